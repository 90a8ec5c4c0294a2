import fc from 'fast-check';
import t from 'tap';
import type { LogDocument } from '../../../../schemas/messages.js';
import { createMappingCoercion } from '../../../../sinks/index-sets/mapping-coercion.js';
import { skipWithoutOpenSearch } from '../../../engines.js';
import { batchOf, indexOptions, newPrefix } from '../contract/contract.js';
import { openStore } from './open-store.js';

const seed = 23;
const time = '2026-11-21T10:00:00.000Z';

/** Whatever decoding and rules may hand over, and a little more. */
function documents(count: number): LogDocument[] {
  const name = fc.oneof(
    fc.constantFrom(
      'n',
      'a',
      'a.b',
      'a.b.c',
      'level',
      'message',
      'source',
      'timestamp',
      'facility',
      '_id',
      '_source',
      '_routing',
      '',
      '.',
      '..',
      'x.',
      '.x',
      '*',
      'a*b',
      ' ',
      'a b',
      '\u0000',
      '"',
      '\\',
      '__proto__',
      'constructor',
    ),
    fc.string({ unit: 'binary', maxLength: 6 }),
  );
  const value = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.double(),
    fc.boolean(),
    fc.maxSafeInteger(),
    fc.constantFrom(
      '5',
      'true',
      '2026-01-01',
      '2026-01-01T00:00:00Z',
      'x'.repeat(40_000),
      'ä'.repeat(20_000),
      '😀'.repeat(9_000),
      '\ud800',
      '\udc00x',
      'a\u0000b',
      1e19,
      1e308,
      -0,
      5e-324,
      2 ** 63,
    ),
  );
  const fields = fc.array(fc.tuple(name, value), { maxLength: 12 });
  return fc.sample(fields, { seed, numRuns: count }).map((entries) => {
    const document: LogDocument = { timestamp: time, receive_time: time };
    for (const [field, one] of entries)
      Object.defineProperty(document, field, { value: one, enumerable: true, configurable: true, writable: true });
    return document;
  });
}

t.test('a fitted document is never refused', skipWithoutOpenSearch(), async (suite) => {
  for (const flatNames of [true, false]) {
    await suite.test(
      flatNames ? 'where dots are characters' : 'where dots make objects: after at most three repairs',
      async (test) => {
        const store = await openStore(test, { flatNames, maxFields: 200 });
        const index = `${newPrefix()}_0`;
        await store.indices.create(index, indexOptions(index.slice(0, -2)));
        const coercion = createMappingCoercion({ maxFields: 200 });
        const sources = documents(250);
        const texts = sources.map((document) => coercion.coerce(index, document));
        const batch = batchOf(
          index,
          sources.map(() => ({})),
          0,
        );
        for (let round = 0; round < 4; round += 1) {
          const { failures } = await store.documents.write({ ...batch, documents: texts });
          if (failures.length === 0) break;
          if (flatNames || round === 3)
            test.fail(
              `refused, seed ${seed}: ${failures[0]?.reason ?? ''} ${(texts[failures[0]?.position ?? 0] ?? '').slice(0, 300)}`,
            );
          for (const failure of failures)
            texts[failure.position] =
              coercion.repair(texts[failure.position] as string, failure, index) ?? (texts[failure.position] as string);
        }
        await store.indices.refresh([index]);
        test.equal(
          (await store.queries.search({ indices: [index], query: { kind: 'all' }, limit: 0 })).total,
          sources.length,
        );
      },
    );
  }
});
