/** A new resource is one file and one line: what follows from both comes by itself. */
import t from 'tap';
import { Type } from 'typebox';
import type { ApiServer } from '../../../../api/http/contract.js';
import { apiRoutes } from '../../../../api/http/routes.js';
import type { ApiServices } from '../../../../api/http/services.js';
import { createMemorySearcher } from '../search/memory-searcher.js';
import { createWorld } from '../world.js';

const greeting = Type.Object({ greeting: Type.String() });

/** The file. It names the one port that it uses. */
function greetingRoutes(app: ApiServer, { config }: Pick<ApiServices, 'config'>): void {
  app.get(
    '/api/greeting',
    {
      config: { permission: 'system:read' },
      schema: { summary: 'A greeting', tags: ['System'], response: { 200: greeting } },
    },
    async () => ({ greeting: config.store.kind }),
  );
  app.post(
    '/api/greeting',
    {
      config: { permission: 'administrator', audit: 'greeting:say' },
      schema: { summary: 'Say it', tags: ['System'], body: greeting, response: { 200: greeting } },
    },
    async ({ body }) => body,
  );
}

t.test('a new route is served, guarded, checked, recorded and described', async (t) => {
  // The line: of `routes.ts`.
  const routes = [...apiRoutes, greetingRoutes];
  const { ask, recorded, table } = await createWorld(t, { routes, searcher: createMemorySearcher([]) });

  const answer = await ask('GET', '/api/greeting', { as: 'operator' });
  t.same(answer.json(), { greeting: 'embedded' }, 'served');
  t.equal((await ask('GET', '/api/greeting')).statusCode, 401, 'nobody may ask');
  t.equal((await ask('GET', '/api/greeting', { as: 'reader' })).statusCode, 403, 'nor who lacks the permission');

  const wrong = await ask('POST', '/api/greeting', { as: 'admin', body: { greeting: 7 } });
  t.equal(wrong.statusCode, 400, 'the body is checked');
  t.equal((await ask('POST', '/api/greeting', { as: 'admin', body: { greeting: 'hello' } })).statusCode, 200);
  t.ok(
    recorded.some(({ fields }) => fields?.['audit_action'] === 'greeting:say'),
    'an audit record says that it was used',
  );

  const description = (await ask('GET', '/api/openapi.json')).json<{ paths: Record<string, object> }>();
  t.same(Object.keys(description.paths['/api/greeting'] ?? {}).sort(), ['get', 'post'], 'described');
  t.equal(table.routes.filter(({ url }) => url === '/api/greeting').length, 2, 'in the table of routes and roles');
});
