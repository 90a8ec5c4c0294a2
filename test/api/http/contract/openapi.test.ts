/**
 * The description that the running program serves, under every rule of spectral for OpenAPI, warnings and hints too.
 */
import { createRequire } from 'node:module';
import t from 'tap';
import { createMemorySearcher } from '../search/memory-searcher.js';
import { createWorld } from '../world.js';

/** What is used of spectral, whose packages are CommonJS. */
interface Finding {
  readonly code: string | number;
  readonly message: string;
  readonly path: readonly (string | number)[];
}
interface Spectral {
  setRuleset(ruleset: object): void;
  run(document: string): Promise<readonly Finding[]>;
}
const require = createRequire(import.meta.url);
const { Spectral: SpectralClass } = require('@stoplight/spectral-core') as { readonly Spectral: new () => Spectral };
const { oas } = require('@stoplight/spectral-rulesets') as { readonly oas: object };

/**
 * Not on: who operates a Sluice is known to nobody who writes it, and what is not licensed has no address of a license.
 */
const leftOut = { 'contact-properties': 'off', 'license-url': 'off' } as const;

t.test('spectral finds nothing', { timeout: 300_000 }, async (t) => {
  const { ask } = await createWorld(t, { searcher: createMemorySearcher([]) });
  const spectral = new SpectralClass();
  spectral.setRuleset({ extends: [[oas, 'all']], rules: leftOut });
  const findings = await spectral.run((await ask('GET', '/api/openapi.json')).body);
  t.same(
    findings.map(({ code, message, path }) => `${code}: ${message} (${path.join(' ')})`),
    [],
  );
  const broken = await spectral.run(
    '{"openapi":"3.1.0","info":{"title":"x"},"paths":{"/a/{b}":{"get":{"responses":{}}}}}',
  );
  t.ok(
    broken.some(({ code }) => code === 'oas3-schema') && broken.some(({ code }) => code === 'path-params'),
    'it would find something',
  );
});
