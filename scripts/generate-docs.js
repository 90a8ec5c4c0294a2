/**
 * Writes the reference pages in docs/reference from the compiled code. `--check` writes nothing and fails when a page
 * is out of date.
 */
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const build = join(root, 'build');
const load = (path) => import(pathToFileURL(join(build, path)).href);
const { errorsReference, eventsReference, metricsReference } = await load('core/reference.js');
const { formatVersions } = await load('core/formats/versions.js');
const { upgradingPage } = await load('core/formats/reference.js');
const { ruleFileJsonSchema, rulesReference } = await load('rules/language/reference.js');
const { settings } = await load('program/settings.js');

function filesNamed(name, folder = build) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return ['test', 'bench'].includes(entry.name) ? [] : filesNamed(name, path);
    return entry.name === name ? [relative(build, path)] : [];
  });
}

const tables = new Map();
for (const file of filesNamed('errors.js').filter((path) => path !== 'core/errors.js')) {
  for (const value of Object.values(await load(file)))
    if (value?.kinds !== undefined) tables.set(file.replace(/\.js$/, '.ts'), value.kinds);
}
const declared = [];
for (const file of filesNamed('metrics.js').filter((path) => path !== 'core/metrics.js')) {
  for (const value of Object.values(await load(file))) {
    if (value !== null && typeof value === 'object')
      declared.push(
        ...Object.values(value).filter(
          (metric) => typeof metric?.help === 'string' && typeof metric?.name === 'string',
        ),
      );
  }
}
const eventTables = new Map();
for (const file of filesNamed('events.js').filter((path) => path !== 'core/events.js'))
  for (const table of Object.values(await load(file))) eventTables.set(file.replace(/\.js$/, '.ts'), table);
const pages = {
  'docs/reference/errors.md': errorsReference(tables),
  'docs/reference/events.md': eventsReference(eventTables),
  'docs/reference/metrics.md': metricsReference(declared),
  'docs/reference/rules.md': rulesReference(),
  'docs/schemas/rules.schema.json': ruleFileJsonSchema(),
  'docs/reference/settings.md': settings.reference(),
  'examples/sluice.yaml': settings.example(),
};
pages['docs/reference/roles.md'] = await rolesPage();
pages['docs/upgrading.md'] = upgradingPage(readFileSync(join(root, 'docs/upgrading.md'), 'utf8'), formatVersions);

/** From the routes of an API over nothing: none of them is asked. */
async function rolesPage() {
  const [{ createApiServer }, { rolesReference }, { defaultRoles }, { loadConfig }, { Registry }, { silentLog }] =
    await Promise.all(
      [
        'api/http/server.js',
        'api/http/openapi/roles-reference.js',
        'access/rights/default-roles.js',
        'program/settings.js',
        'core/metrics.js',
        'core/log.js',
      ].map(load),
    );
  const { config } = loadConfig({ folder: join(root, 'examples', 'none'), environment: {} });
  const services = {
    config,
    receiverKinds: [],
    access: {},
    searcher: {},
    state: {},
    definitions: {},
    dryRuns: {},
    graylog: {},
    health: {},
    indices: {},
    processing: {},
    receivers: {},
    outputs: {},
    monitoring: {},
    language: {},
    operations: () => undefined,
    audit: {},
    registry: new Registry(),
    log: silentLog,
    rules: () => undefined,
  };
  const server = await createApiServer({ options: config.api, services });
  const page = rolesReference(server.table.routes, [...defaultRoles.values()]);
  await server.stop(0);
  return page;
}

let stale = 0;
mkdirSync(join(root, 'docs/reference'), { recursive: true });
for (const [page, text] of Object.entries(pages)) {
  if (process.argv.includes('--check')) {
    let kept = '';
    try {
      kept = readFileSync(join(root, page), 'utf8');
    } catch {
      /* a missing page is out of date */
    }
    if (kept === text) continue;
    stale += 1;
    process.stderr.write(`${page} is out of date: run \`npm run docs\`\n`);
  } else writeFileSync(join(root, page), text);
}
process.exitCode = stale > 0 ? 1 : 0;
