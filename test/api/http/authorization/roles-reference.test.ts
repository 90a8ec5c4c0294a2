/** `SLUICE_TEST_UPDATE=1` writes the page anew. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { defaultRoles } from '../../../../access/rights/default-roles.js';
import { rolesReference } from '../../../../api/http/openapi/roles-reference.js';
import { packageRoot } from '../../../../core/process/package-root.js';
import { allCapabilities } from '../../../../schemas/access.js';
import { createWorld } from '../world.js';

t.test('docs/reference/roles.md is what roles and routes say', async (t) => {
  const { table } = await createWorld(t);
  const text = rolesReference(table.routes, [...defaultRoles.values()]);
  for (const { method, url } of table.routes) t.ok(text.includes(`\`${method} ${url}\``), `${method} ${url}`);
  for (const capability of allCapabilities) t.ok(text.includes(`| \`${capability}\` |`), capability);
  const path = join(packageRoot, 'docs/reference/roles.md');
  if (process.env['SLUICE_TEST_UPDATE'] === '1') writeFileSync(path, text);
  t.ok(
    existsSync(path) && readFileSync(path, 'utf8') === text,
    'run this test with SLUICE_TEST_UPDATE=1, or npm run docs, to write it anew',
  );
});
