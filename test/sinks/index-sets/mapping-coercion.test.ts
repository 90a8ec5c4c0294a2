import { inspect } from 'node:util';
import fc from 'fast-check';
import t from 'tap';
import type { LogDocument } from '../../../schemas/messages.js';
import { createMappingCoercion, type MappingCoercion } from '../../../sinks/index-sets/mapping-coercion.js';
import type { FieldType } from '../../../sinks/stores/contract.js';

const time = '2026-11-21T10:00:00.000Z';

function coerce(coercion: MappingCoercion, document: LogDocument): Record<string, unknown> {
  return JSON.parse(coercion.coerce('set_0', document)) as Record<string, unknown>;
}

t.test('what fits passes as it is, and is not copied into another order', async (test) => {
  const coercion = createMappingCoercion({ maxFields: 100 });
  const document = {
    timestamp: time,
    message: 'm',
    source: 's',
    level: 6,
    streams: ['a'],
    number: 1,
    text: 'x',
    flag: true,
    'a.b': 1,
    a: 'x',
    'a.b.c': 2,
  };
  for (let round = 0; round < 2; round += 1) test.equal(coercion.coerce('set_0', document), JSON.stringify(document));
});

t.test('a value that would not fit its field', async (suite) => {
  const cases: readonly (readonly [string, LogDocument, Record<string, unknown>])[] = [
    [
      'text in a number field goes to the twin',
      { n: 'many' },
      { n_text: 'many', adjustments: ['n: text in a number field, moved to n_text'] },
    ],
    [
      'a boolean in a number field goes to the twin',
      { n: false },
      { n_text: 'false', adjustments: ['n: a boolean in a number field, moved to n_text'] },
    ],
    [
      'digits as text are text',
      { n: '5' },
      { n_text: '5', adjustments: ['n: text in a number field, moved to n_text'] },
    ],
    ['a number in a text field stays', { s: 5 }, { s: 5 }],
    ['text in a field first seen as boolean stays', { b: 'perhaps' }, { b: 'perhaps' }],
    [
      'a twin that the sender set itself is kept',
      { n: 'many', n_text: 'own' },
      { n_text: 'own', adjustments: ['n: text in a number field, moved to other_fields'], other_fields: ['n=many'] },
    ],
    [
      'a word for the level goes to the twin',
      { level: 'high' },
      { level_text: 'high', adjustments: ['level: text in a number field, moved to level_text'] },
    ],
    [
      'notes of earlier stages stay in front',
      { adjustments: ['before'], n: 'x' },
      { adjustments: ['before', 'n: text in a number field, moved to n_text'], n_text: 'x' },
    ],
    [
      'no number: infinity',
      { n: Number.POSITIVE_INFINITY },
      { n_text: 'Infinity', adjustments: ['n: text in a number field, moved to n_text'] },
    ],
    [
      'half a surrogate pair becomes the replacement character',
      { s: 'a\ud800' },
      { s: 'a\ufffd', adjustments: ['s: halves of characters replaced by U+FFFD'] },
    ],
    ['text that looks like an escaped half stays', { s: 'C:\\udata \\ud800' }, { s: 'C:\\udata \\ud800' }],
  ];
  for (const [title, document, expected] of cases) {
    await suite.test(title, async (test) => {
      const coercion = createMappingCoercion({ maxFields: 100 });
      coerce(coercion, { n: 1, s: 'x', b: true });
      test.same(coerce(coercion, document), expected);
    });
  }
});

t.test('names that no index can have go to other_fields', async (test) => {
  const coercion = createMappingCoercion({ maxFields: 100 });
  const long = 'n'.repeat(257);
  const result = coerce(coercion, { '': 1, _x: 2, '.a': 3, 'a..b': 4, [long]: 5, 'h\udc00': 6, fine: 7 });
  test.same(result['other_fields'], ['=1', '_x=2', '.a=3', 'a..b=4', `${long}=5`, 'h\ufffd=6']);
  test.equal((result['adjustments'] as string[]).length, 6);
  test.equal(result['fine'], 7);
});

t.test('fields past the limit go to other_fields under one note; known ones keep their place', async (test) => {
  const coercion = createMappingCoercion({ maxFields: 20 });
  const many = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`f${at}`, at]));
  const result = coerce(coercion, { message: 'm', ...many });
  const kept = Object.keys(result).filter((name) => name.startsWith('f')).length;
  test.equal((result['other_fields'] as string[]).length, 30 - kept);
  test.same(result['adjustments'], [
    `${30 - kept} fields moved to other_fields: the index has no room for more fields`,
  ]);
  test.same(coerce(coercion, { message: 'm', f0: 9 }), { message: 'm', f0: 9 });
  test.same(JSON.parse(coercion.coerce('set_1', { new: 1 })), { new: 1 }, 'another index has room of its own');
  coercion.forget('set_0');
  test.same(coerce(coercion, { f29: 1 }), { f29: 1 });
});

t.test('a long text is kept and noted', async (test) => {
  const coercion = createMappingCoercion({ maxFields: 100 });
  const long = 'x'.repeat(40_000);
  test.match(coerce(coercion, { long, message: long }), {
    long,
    message: long,
    adjustments: [/^long: longer than 8191 characters/],
  });
});

t.test('times', async (suite) => {
  const noTime = (text: string) => ({
    timestamp_text: text,
    timestamp: time,
    receive_time: time,
    adjustments: ['timestamp: not a time of the years 0 to 9999, moved to timestamp_text'],
  });
  const cases: readonly (readonly [string, LogDocument, Record<string, unknown>])[] = [
    ['the year 2999 is a time', { timestamp: '2999-01-01T00:00:00.000Z' }, { timestamp: '2999-01-01T00:00:00.000Z' }],
    [
      'the 29th of February in a leap year',
      { timestamp: '2028-02-29T00:00:00.000Z' },
      { timestamp: '2028-02-29T00:00:00.000Z' },
    ],
    [
      'another zone is written as UTC',
      { timestamp: '2026-11-21T12:00:00+02:00' },
      { timestamp: time, adjustments: ['timestamp: written as UTC, was 2026-11-21T12:00:00+02:00'] },
    ],
    ['no time at all', { timestamp: 'yesterday', receive_time: time }, noTime('yesterday')],
    [
      'beyond the year 9999',
      { timestamp: '+012026-11-21T10:00:00.000Z', receive_time: time },
      noTime('+012026-11-21T10:00:00.000Z'),
    ],
    [
      'the 31st of June is the 1st of July',
      { timestamp: '2026-06-31T00:00:00.000Z' },
      {
        timestamp: '2026-07-01T00:00:00.000Z',
        adjustments: ['timestamp: written as UTC, was 2026-06-31T00:00:00.000Z'],
      },
    ],
  ];
  for (const [title, document, expected] of cases) {
    await suite.test(title, async (test) => {
      test.same(coerce(createMappingCoercion({ maxFields: 100 }), document), expected);
    });
  }
});

t.test('what the store knows of the index is learned before the first document', async (test) => {
  const coercion = createMappingCoercion({ maxFields: 100 });
  let loads = 0;
  const load = async (): Promise<ReadonlyMap<string, FieldType>> => {
    loads += 1;
    return new Map([['n', 'number' as const]]);
  };
  await coercion.prepare('set_0', load);
  await coercion.prepare('set_0', load);
  test.equal(loads, 1);
  test.match(coerce(coercion, { n: 'x' }), { n_text: 'x' });
});

t.test('a refused document', async (suite) => {
  const conflict = {
    reason:
      "mapper_parsing_exception: failed to parse field [n] of type [double] in document with id 'b'. Preview of field's value: 'x'",
  };
  await suite.test('its conflicting value moves to the twin, and the fitter has learned', async (test) => {
    const coercion = createMappingCoercion({ maxFields: 100 });
    test.match(JSON.parse(coercion.repair(coercion.coerce('set_0', { n: 'x' }), conflict, 'set_0') ?? ''), {
      n_text: 'x',
      n: undefined,
    });
    test.match(coerce(coercion, { n: 'y' }), { n_text: 'y' });
  });
  await suite.test('the same without the name of the index', async (test) => {
    test.match(JSON.parse(createMappingCoercion({ maxFields: 100 }).repair('{"n":"x"}', conflict) ?? ''), {
      n_text: 'x',
    });
  });
  await suite.test(
    'new fields go to other_fields when the index has no room, until the store has been asked again',
    async (test) => {
      const coercion = createMappingCoercion({ maxFields: 100 });
      const text = coercion.coerce('set_0', { a: 1, b: 2, message: 'm' });
      test.match(
        JSON.parse(
          coercion.repair(
            text,
            { reason: 'illegal_argument_exception: Limit of total fields [120] has been exceeded' },
            'set_0',
          ) ?? '',
        ),
        { message: 'm', other_fields: ['a=1', 'b=2'] },
      );
      await coercion.prepare('set_0', async () => new Map([['a', 'number' as const]]));
      test.match(coerce(coercion, { a: 1, b: 2 }), { a: 1, other_fields: ['b=2'] });
    },
  );
  await suite.test(
    'a field that is refused for another reason goes to other_fields; then all; then nothing is left',
    async (test) => {
      const coercion = createMappingCoercion({ maxFields: 100 });
      const named =
        coercion.repair(
          coercion.coerce('set_0', { a: 'x', b: 'y' }),
          { reason: 'failed to parse field [a] of type [strange]' },
          'set_0',
        ) ?? '';
      test.match(JSON.parse(named), { b: 'y', other_fields: ['a=x'] });
      const all = coercion.repair(named, { reason: 'no idea' }, 'set_0') ?? '';
      test.same((JSON.parse(all) as LogDocument)['other_fields'], ['a=x', 'b=y']);
      test.equal(coercion.repair(all, { reason: 'no idea' }, 'set_0'), undefined);
      test.equal(coercion.repair('no json', { reason: 'no idea' }, 'set_0'), undefined);
    },
  );
});

t.test('property: nothing is lost, the document stays as it was, and fitting again changes nothing', async () => {
  const value = fc.oneof(fc.string(), fc.double(), fc.boolean(), fc.string({ unit: 'binary' }));
  const name = fc.oneof(
    fc.constantFrom('level', 'message', 'n', 'n_text', 'source', 'a.b', '_x', ''),
    fc.string({ maxLength: 8 }),
  );
  const coercion = createMappingCoercion({ maxFields: 40 });
  fc.assert(
    fc.property(fc.dictionary(name, value, { noNullPrototype: true }), (fields) => {
      const document = { ...fields, timestamp: time } as LogDocument;
      const before = inspect(document);
      const text = coercion.coerce('set_0', document);
      if (inspect(document) !== before) throw new Error('the document was changed');
      const result = JSON.parse(text) as LogDocument;
      const others = (result['other_fields'] ?? []) as string[];
      const wellFormed = (one: string) => one.replace(/\p{Surrogate}/gu, '\ufffd');
      for (const [field, one] of Object.entries(fields)) {
        const shown = typeof one === 'string' ? wellFormed(one) : String(one);
        const kept = [result[field], result[`${field}_text`]].some(
          (candidate) => candidate !== undefined && (candidate.toString() === shown || Object.is(one, -0)),
        );
        if (!kept && !others.includes(`${wellFormed(field)}=${shown}`)) throw new Error(`lost: ${field}`);
      }
      return coercion.coerce('set_0', JSON.parse(text) as LogDocument) === text;
    }),
    { seed: 7, numRuns: 2_000 },
  );
});
