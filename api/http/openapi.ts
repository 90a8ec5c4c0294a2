/** The description of the API (OpenAPI 3.1), made from the schemas of the routes when somebody asks for it. */
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import Fastify, { type FastifySchema, type RouteOptions } from 'fastify';
import { Type } from 'typebox';
import { packageVersion } from '../../core/package-root.js';
import type { ApiServer } from './contract.js';
import type { ApiRoutes, ApiServices } from './services.js';
import { createSerializerCompiler, createValidatorCompiler } from './validation.js';

const errorBody = Type.Object({ type: Type.String({ examples: ['ApiError', 'RequestError', 'ValidationApiError', 'MissingStreamPermission'] }), message: Type.String() }, { description: 'What went wrong; more members by kind.' });
const schemes = { password: { type: 'http', scheme: 'basic', description: 'name:password, <session id>:session or <token>:token' }, token: { type: 'http', scheme: 'bearer' }, session: { type: 'apiKey', in: 'cookie', name: 'authentication' } } as const;

/** The routes are registered a second time, on a server that never listens; it is not closed either, since that would end what the routes have under way. */
export async function describeApi(services: ApiServices, routes: readonly ApiRoutes[]): Promise<Readonly<Record<string, unknown>>> {
  const { default: swagger } = await import('@fastify/swagger');
  const app = Fastify({ logger: false }).withTypeProvider<TypeBoxTypeProvider>() as unknown as ApiServer;
  app.setValidatorCompiler(createValidatorCompiler());
  app.setSerializerCompiler(createSerializerCompiler());
  app.decorate('routeList', routes);
  const tags = new Set<string>();
  app.addHook('onRoute', (route) => (route.schema?.tags ?? []).forEach((tag) => tags.add(tag)));
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Sluice', version: packageVersion, description: 'The API of the log platform. Every change needs the header X-Requested-By, with any value.', contact: { name: 'The operators of this Sluice' }, license: { name: 'UNLICENSED', identifier: 'LicenseRef-unlicensed' } },
      servers: [{ url: '/', description: 'This server' }], components: { securitySchemes: schemes },
    },
    transform: ({ schema, url, route }) => ({ schema: described(schema, route), url }),
  });
  for (const register of routes) register(app, services);
  await app.ready();
  const document = app.swagger() as unknown as Record<string, unknown>;
  return { ...document, tags: [...tags].sort().map((name) => ({ name, description: `Routes of: ${name.toLowerCase()}.` })) };
}

function described(schema: FastifySchema, { url, method, config }: RouteOptions): FastifySchema {
  const permission = config?.permission ?? 'administrator';
  const { summary = '', description } = schema as { summary?: string; description?: string };
  const about = permission === 'public' ? 'Needs no credentials.' : `Needs: ${permission}.`;
  return {
    ...schema, operationId: operationId([method].flat()[0] ?? 'GET', url), description: `${description ?? summary}${(description ?? summary).endsWith('.') ? '' : '.'} ${about}`,
    security: permission === 'public' ? [] : [{ password: [] }, { token: [] }, { session: [] }],
    response: { ...(schema.response as object), '4xx': { description: 'The request cannot be answered so.', content: { 'application/json': { schema: errorBody } } } },
  };
}

/** `GET /api/views/:id` → `getViewsById` */
function operationId(method: string, url: string): string {
  const words = url.replace(/^\/api\/?/, '').split(/[/_.-]/).filter((word) => word !== '').map((word) => (word.startsWith(':') ? `By${capital(word.slice(1))}` : capital(word)));
  return `${method.toLowerCase()}${words.join('') || (url === '/' ? 'Root' : 'Api')}`;
}

const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);
