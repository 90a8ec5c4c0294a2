import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { configCheck, configShow } from '../../cli/tools/config.js';
import { loadConfig, settings } from '../../program/settings.js';
import { sizeText } from '../../config/reference.js';
import type { SettingSchema } from '../../config/schema.js';
import { suggest } from '../../config/suggest.js';
import { parseBytes } from '../../core/bytes.js';
import { packageRoot } from '../../core/process/package-root.js';

const generated: readonly (readonly [string, string])[] = [
  ['docs/reference/settings.md', settings.reference()],
  ['examples/sluice.yaml', settings.example()],
];

t.test('generated files are as the schema says', async (t) => {
  for (const [name, want] of generated) {
    const path = join(packageRoot, name);
    t.equal(existsSync(path) ? readFileSync(path, 'utf8') : '', want, `${name}: npm run docs writes it anew`);
  }
});

t.test('the example for one machine is the defaults', async (t) => {
  const example = loadConfig({ file: join(packageRoot, 'examples/sluice.yaml'), environment: {} }).config;
  const defaults = loadConfig({
    file: undefined,
    folder: join(packageRoot, 'examples', 'none'),
    environment: {},
  }).config;
  const withoutFolders = (config: typeof example): object => ({
    ...config,
    data_folder: '',
    rules: '',
    api: { ...config.api, views_folder: '' },
  });
  t.same(withoutFolders(example), withoutFolders(defaults));
});

t.test('the example for Kafka and OpenSearch is valid', async (t) => {
  const { config, warnings } = loadConfig({
    file: join(packageRoot, 'examples/sluice-kafka-opensearch.yaml'),
    environment: {},
  });
  t.same([config.topics.kind, config.store.kind], ['kafka', 'opensearch']);
  t.same(warnings, []);
});

t.test('every setting has a description and a default', async (t) => {
  const walk = (schema: SettingSchema, path: string) => {
    for (const [name, one] of Object.entries(schema.properties ?? {})) {
      if (name === 'type' && path.includes('[')) continue;
      t.ok(one.description, `${path}${name} has a description`);
      t.ok(one.default !== undefined, `${path}${name} has a default`);
      walk(one, `${path}${name}.`);
      for (const [type, variant] of Object.entries(one.items?.variants ?? {}))
        walk(variant, `${path}${name}[${type}].`);
    }
  };
  walk(settings.schema, '');
});

t.test('sizes are written so that they read back', async (t) => {
  for (const bytes of [1, 1000, 1024, 1e9, 2 ** 30, 1536 * 2 ** 20, 123_456_789])
    t.equal(parseBytes(sizeText(bytes)), bytes, sizeText(bytes));
});

t.test('a mistyped word finds its neighbour and a strange one none', async (t) => {
  t.equal(suggest('partitons', ['partitions', 'prefix']), 'partitions');
  t.equal(suggest('Log-Level', ['log_level']), 'log_level');
  t.equal(suggest('xyz', ['partitions', 'prefix']), undefined);
});

t.test('config check and show answer with text and exit code', async (t) => {
  const folder = join(packageRoot, 'examples');
  t.match(configCheck({ folder, environment: {} }), { exitCode: 0, text: /valid \(.*sluice\.yaml\)/ });
  t.match(JSON.parse(configCheck({ folder, environment: {}, json: true }).text), { valid: true, problems: [] });
  t.match(JSON.parse(configCheck({ folder, environment: { SLUICE_LOG_LEVEL: 'loud' }, json: true }).text), {
    valid: false,
    problems: [{}],
  });
  t.match(configCheck({ folder, environment: { SLUICE_LOG_LEVEL: 'loud' } }), {
    exitCode: 2,
    text: /SLUICE_LOG_LEVEL: log_level: .*\n1 problem\./,
  });
  t.match(configShow({ folder, environment: { SLUICE_STORE__OPENSEARCH__PASSWORD: 'geheim' } }), {
    exitCode: 0,
    text: /password: <hidden>/,
  });
  t.notMatch(
    configShow({ folder, environment: { SLUICE_STORE__OPENSEARCH__PASSWORD: 'geheim' }, json: true }).text,
    'geheim',
  );
  t.match(configShow({ folder, environment: { SLUICE_LOG_LEVEL: 'loud' } }), { exitCode: 2 });
});
