/** What every route of the real list says of itself, and the description that is made from it. */
import t from 'tap';
import { createMemorySearcher } from '../search/memory-searcher.js';
import { createWorld } from '../world.js';

/** What spectral's rules for OpenAPI look at, in the part that a generated description can get wrong. */
interface Operation {
  readonly operationId: string;
  readonly summary?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly required?: boolean }[];
  readonly requestBody?: unknown;
  readonly responses: Readonly<Record<string, { readonly description?: string; readonly $ref?: string }>>;
  readonly security?: readonly unknown[];
}

t.test('every route has a permission, a schema and, where it changes something, an audit name', async (t) => {
  const { table } = await createWorld(t, { searcher: createMemorySearcher([]) });
  t.ok(table.routes.length > 20, `${table.routes.length} routes`);
  for (const { method, url, permission, audit, hasResponse } of table.routes) {
    const name = `${method} ${url}`;
    t.ok(permission, name);
    t.ok(hasResponse, name);
    t.match(url, /^\/(?:api(?:\/|$))?/, name);
    if (audit !== undefined) t.match(audit, /^[a-z]+(?:_[a-z]+)*:[a-z]+(?:_[a-z]+)*$/, `${name}: ${audit}`);
    if (['POST', 'PUT', 'DELETE'].includes(method) && audit === undefined) t.equal(method, 'POST', `${name} reads`);
  }
  const names = table.routes.map(({ method, url }) => `${method} ${url.replaceAll(/:[^/]+/g, ':x')}`);
  t.same(
    names.filter((name, at) => names.indexOf(name) !== at),
    [],
    'no two for one path',
  );
});

t.test(
  'the description is OpenAPI 3.1 of every route, and the page that shows it needs nothing from elsewhere',
  async (t) => {
    const { ask, table } = await createWorld(t, { searcher: createMemorySearcher([]) });
    const answer = await ask('GET', '/api/openapi.json');
    t.equal(answer.statusCode, 200, answer.body.slice(0, 500));
    const document = answer.json<{
      openapi: string;
      info: Record<string, unknown>;
      tags: { name: string; description: string }[];
      servers: { url: string }[];
      paths: Record<string, Record<string, Operation>>;
    }>();
    t.equal(document.openapi, '3.1.0');
    t.match(document.info, { title: String, version: String, description: String, contact: {} });
    t.ok(document.servers.every(({ url }) => url === '/' || !url.endsWith('/')));
    const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
    );
    t.equal(operations.length, table.routes.filter(({ hidden }) => !hidden).length);
    const ids = operations.map(({ operation }) => operation.operationId);
    t.same(
      ids.filter((id, at) => ids.indexOf(id) !== at),
      [],
      'ids are unique',
    );
    const tags = new Set(document.tags.map(({ name }) => name));
    for (const { path, method, operation } of operations) {
      const name = `${method} ${path}`;
      t.match(operation, { operationId: /^[a-zA-Z]\w*$/, summary: /\S/, description: /Needs/, security: Array }, name);
      t.ok((operation.tags ?? []).length > 0 && operation.tags?.every((tag) => tags.has(tag)), `${name}: tags`);
      t.ok(
        Object.keys(operation.responses).some((status) => status.startsWith('2') || status === '304'),
        `${name}: success`,
      );
      t.ok(
        Object.values(operation.responses).every(
          ({ description, $ref }) => description !== undefined || $ref?.startsWith('#/components/responses/') === true,
        ),
        `${name}: descriptions of answers`,
      );
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, one]) => one).sort();
      t.same(
        (operation.parameters ?? [])
          .filter(({ in: place }) => place === 'path')
          .map(({ name: one }) => one)
          .sort(),
        inPath,
        `${name}: path parameters`,
      );
      if (method === 'get') t.notOk(operation.requestBody, name);
    }
    const page = await ask('GET', '/api/api-browser');
    t.equal(page.statusCode, 200);
    t.notMatch(page.body, /https?:/);
    t.match(page.headers['content-security-policy'], /script-src 'self'/);
    for (const file of [...page.body.matchAll(/(?:src|href)="(api-browser\/[^"]+)"/g)].map(([, one]) => one ?? ''))
      t.equal((await ask('GET', `/api/${file}`)).statusCode, 200, file);
    t.equal((await ask('GET', '/api/api-browser/package.json')).statusCode, 404);
    t.equal((await ask('GET', '/api/api-browser/..%2f..%2fpackage.json')).statusCode, 404);
  },
);
