/** The description of the API (OpenAPI 3.1), made from the schemas of the routes when somebody asks for it. */
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import Fastify, { type FastifySchema, type RouteOptions } from 'fastify';
import { packageVersion } from '../../../core/process/package-root.js';
import type { ApiServer } from '../contract.js';
import { answersOf, errorResponses, errorSchema, errorsOf, type DescribedRoute } from './answers.js';
import { parameterDescriptions, tagDescriptions } from './words.js';
import type { ApiRoutes, ApiServices } from '../services.js';
import { createSerializerCompiler, createValidatorCompiler } from '../validation.js';

type Members = Readonly<Record<string, unknown>>;
interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly description?: string;
    readonly schema: Members;
  }[];
  readonly requestBody?: Members;
  readonly responses: Members;
}

const schemes = {
  password: { type: 'http', scheme: 'basic', description: 'name:password, <session id>:session or <token>:token' },
  token: { type: 'http', scheme: 'bearer' },
  session: { type: 'apiKey', in: 'cookie', name: 'authentication' },
} as const;

/**
 * The routes are registered a second time, on a server that never listens; it is not closed either, since that would
 * end what the routes have under way.
 */
export async function describeApi(services: ApiServices, routes: readonly ApiRoutes[]): Promise<Members> {
  const { default: swagger } = await import('@fastify/swagger');
  const app = Fastify({ logger: false }).withTypeProvider<TypeBoxTypeProvider>() as unknown as ApiServer;
  app.setValidatorCompiler(createValidatorCompiler());
  app.setSerializerCompiler(createSerializerCompiler());
  app.decorate('routeList', routes);
  const known = new Map<string, DescribedRoute & { readonly bodyOptional: boolean }>();
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Sluice',
        version: packageVersion,
        description: 'The API of the log platform. Every change needs the header X-Requested-By, with any value.',
        contact: { name: 'The operators of this Sluice' },
        license: { name: 'UNLICENSED', identifier: 'LicenseRef-unlicensed' },
      },
      servers: [{ url: '/', description: 'This server' }],
      components: {
        securitySchemes: schemes,
        schemas: { Error: errorSchema as never },
        responses: errorResponses as never,
      },
    },
    transform: ({ schema, url, route }) => {
      const facts = factsOf(route);
      known.set(operationId(facts.method, facts.url), facts);
      return { schema: described(schema, facts), url };
    },
  });
  for (const register of routes) register(app, services);
  await app.ready();
  const document = app.swagger() as unknown as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  };
  const paths = Object.fromEntries(
    Object.entries(document.paths).map(([path, methods]) => [
      path,
      Object.fromEntries(
        Object.entries(methods).map(([method, operation]) => [
          method,
          completed(operation, known.get(operation.operationId)),
        ]),
      ),
    ]),
  );
  const tags = [...new Set([...known.values()].flatMap((route) => route.tags))].sort();
  return {
    ...document,
    paths,
    tags: tags.map((name) => ({ name, description: tagDescriptions[name] ?? `Routes of: ${name.toLowerCase()}.` })),
  };
}

function factsOf({ method, url, config, schema }: RouteOptions): DescribedRoute & { readonly bodyOptional: boolean } {
  const body = schema?.body as (Members & { readonly anyOf?: readonly Members[] }) | undefined;
  return {
    method: [method].flat()[0] ?? 'GET',
    url,
    permission: config?.permission ?? 'administrator',
    tags: (schema as { tags?: readonly string[] } | undefined)?.tags ?? [],
    hasBody: body !== undefined,
    produces: config?.produces ?? ['application/json'],
    bodyOptional: body !== undefined && ('~optional' in body || (body.anyOf ?? []).some(({ type }) => type === 'null')),
  };
}

function described(schema: FastifySchema, { method, url, permission, produces }: DescribedRoute): FastifySchema {
  const { summary = '', description } = schema as { summary?: string; description?: string };
  const about = permission === 'public' ? 'Needs no credentials.' : `Needs: ${permission}.`;
  return {
    ...schema,
    operationId: operationId(method, url),
    description: `${description ?? summary}${(description ?? summary).endsWith('.') ? '' : '.'} ${about}`,
    security: permission === 'public' ? [] : [{ password: [] }, { token: [] }, { session: [] }],
    response: answersOf(schema.response as Readonly<Record<string, Members>>, summary, produces),
  };
}

/** What the generator does not know: errors, bodies that may be missing, parameters that have a default. */
function completed(
  operation: Operation,
  route: (DescribedRoute & { readonly bodyOptional: boolean }) | undefined,
): Members {
  if (route === undefined) return { ...operation };
  const parameters = operation.parameters?.map(({ description: own, ...parameter }) => {
    const description = own ?? parameterDescriptions[parameter.name];
    return {
      ...parameter,
      ...(description === undefined ? {} : { description }),
      ...('default' in parameter.schema && parameter.in !== 'path' ? { required: false } : {}),
    };
  });
  return {
    ...operation,
    ...(parameters === undefined ? {} : { parameters }),
    ...(operation.requestBody === undefined
      ? {}
      : { requestBody: { ...operation.requestBody, required: !route.bodyOptional } }),
    responses: { ...errorsOf(route), ...operation.responses },
  };
}

/** `GET /api/views/:id` → `getViewsById` */
function operationId(method: string, url: string): string {
  const words = url
    .replace(/^\/api\/?/, '')
    .split(/[/_.-]/)
    .filter((word) => word !== '')
    .map((word) => (word.startsWith(':') ? `By${capital(word.slice(1))}` : capital(word)));
  return `${method.toLowerCase()}${words.join('') || (url === '/' ? 'Root' : 'Api')}`;
}

const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);
