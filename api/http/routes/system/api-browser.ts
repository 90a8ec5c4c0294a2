/** The description of the API, and a page to read and try it. All files of the page are served from here. */
import { createRequire } from 'node:module';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Type } from 'typebox';
import type { ApiServer } from '../../contract.js';
import { failure } from '../../failure.js';
import type { ApiRoutes, ApiServices } from '../../services.js';

const files: Readonly<Record<string, string>> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'swagger-ui-standalone-preset.js': 'text/javascript; charset=utf-8',
  'favicon-32x32.png': 'image/png',
};
const page = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Sluice API</title><link rel="stylesheet" href="api-browser/swagger-ui.css"><link rel="icon" href="api-browser/favicon-32x32.png"></head>
<body><div id="swagger-ui"></div><script src="api-browser/swagger-ui-bundle.js"></script><script src="api-browser/swagger-ui-standalone-preset.js"></script><script src="api-browser/start.js"></script></body>
</html>
`;
const start = `window.onload = () => SwaggerUIBundle({
  url: 'openapi.json', dom_id: '#swagger-ui', deepLinking: true, presets: [SwaggerUIBundle.presets.apis, SwaggerUIStandalonePreset], validatorUrl: null,
  requestInterceptor: (request) => { request.headers['X-Requested-By'] = 'api-browser'; return request; },
});
`;
/** The page's own files only; swagger-ui sets styles in attributes and has its pictures in data addresses. */
const contentSecurityPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; font-src 'self'; frame-ancestors 'none'";
const text = (...types: readonly string[]) => ({
  200: {
    content: Object.fromEntries(types.map((type) => [type, { schema: Type.Unsafe<string | Buffer>(Type.String()) }])),
  },
});

export function apiBrowserRoutes(app: ApiServer, services: ApiServices): void {
  let description: Promise<string> | undefined;
  app.get(
    '/api/openapi.json',
    {
      config: { permission: 'public' },
      schema: {
        summary: 'This description',
        tags: ['API'],
        response: { 200: Type.Unsafe<string | object>(Type.Record(Type.String(), Type.Unknown())) },
      },
    },
    async (_, reply) => {
      description ??= import('../../openapi/openapi.js').then(async ({ describeApi }) =>
        JSON.stringify(await describeApi(services, app.routeList as readonly ApiRoutes[])),
      );
      description.catch(() => {
        description = undefined;
      });
      return reply
        .type('application/json; charset=utf-8')
        .serializer((body: unknown) => body as string)
        .send(await description);
    },
  );
  app.get(
    '/api/api-browser',
    {
      config: { permission: 'public', produces: ['text/html'] },
      schema: { summary: 'A page to read and try the API', tags: ['API'], response: text('text/html') },
    },
    async (_, reply) =>
      reply.headers({ 'content-security-policy': contentSecurityPolicy }).type('text/html; charset=utf-8').send(page),
  );
  app.get(
    '/api/api-browser/:file',
    {
      config: { permission: 'public', produces: ['text/css', 'text/javascript', 'image/png'] },
      schema: {
        summary: 'Files of the page',
        tags: ['API'],
        params: Type.Object({ file: Type.String({ maxLength: 100 }) }),
        response: text('text/javascript', 'text/css', 'image/png'),
      },
    },
    async ({ params: { file } }, reply) => {
      if (file === 'start.js') return reply.type('text/javascript; charset=utf-8').send(start);
      const type = Object.hasOwn(files, file) ? files[file] : undefined;
      if (type === undefined) throw failure('API_NOT_FOUND', 'There is nothing at this path.');
      const folder = join(
        dirname(createRequire(import.meta.url).resolve('@fastify/swagger-ui/package.json')),
        'static',
      );
      return reply
        .headers({ 'cache-control': 'public, max-age=86400' })
        .type(type)
        .send(await readFile(join(folder, file)));
    },
  );
}
