import fc from 'fast-check';
import t from 'tap';
import { isSluiceError } from '../../core/errors.js';
import type { DecodeContext } from '../../gelf/contract.js';
import { createDecoder } from '../../gelf/decoder.js';
import { parseLenient } from '../../gelf/lenient-json.js';
import { compactJson, literalsOf } from '../../gelf/members.js';
import { createIsoFormatter } from '../../gelf/times.js';

const seed = 20261121;
const context: DecodeContext = {
  receiver: 'r',
  peer: '10.0.0.7:5000',
  receivedAt: 1_767_323_045_000,
  timestamp: 'sender',
};

/** Names that collide, are odd, or mean something to GELF, JavaScript or the stores. */
const name = fc.oneof(
  fc.constantFrom(
    '_id',
    '__id',
    '_',
    '',
    '__proto__',
    '___proto__',
    '_constructor',
    'message',
    '_message',
    'host',
    '_host',
    'source',
    '_level',
    'level',
    'line',
    'timestamp',
    '_timestamp',
    'full_message',
    '_full_message',
    'facility',
    'streams',
    '_receiver',
    '_a',
    'a',
    '__a',
    '_a b',
    '_a/b',
    '_a.b',
    '_.a',
    '_sender_a',
    '_a_text',
    '_level_text',
    '_имя',
    '7',
    '_7',
    'version',
    '_version',
  ),
  fc.string({ maxLength: 8 }),
);
const value = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(
    'info',
    ' x ',
    '',
    'error',
    2 ** 53,
    -(2 ** 60),
    1e300,
    true,
    3,
    7.5,
    '7',
    1_767_323_045.678,
    1_767_323_045_678,
    '2026-01-02T03:04:05Z',
  ),
);
const fields = fc.array(fc.tuple(name, value), { maxLength: 12 });

/** As JSON text with each name once, so that both parsers see the same. */
function textOf(pairs: readonly (readonly [string, unknown])[]): string {
  const members = new Map(
    pairs
      .filter(([key]) => key !== 'short_message' && key !== 'host')
      .map(([key, field]) => [key, JSON.stringify(field)]),
  );
  return ['"short_message":"x"', ...[...members].map(([key, json]) => `${JSON.stringify(key)}:${json}`)].join(',');
}

t.test('the lenient parser gives what JSON.parse gives', async () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 5 }), fc.constantFrom('', ' ', '\n'), (json, space) => {
      const text = space === '' ? json : JSON.stringify(JSON.parse(json), null, space);
      const outcome = parseLenient(text);
      if (isSluiceError(outcome)) throw outcome;
      t.strictSame(outcome.value, JSON.parse(text));
      t.equal(outcome.end, text.length);
    }),
    { seed, numRuns: 500 },
  );
});

t.test('a document is the same whichever parser read the message', async () => {
  const decoder = createDecoder();
  fc.assert(
    fc.property(fields, (pairs) => {
      const members = textOf(pairs);
      const documents = [`{${members}}`, `{${members},}`, `\uFEFF{${members}}`, `{${members}}{}`].map((text) => {
        const parsed = decoder.parse(Buffer.from(text));
        if ('error' in parsed) throw parsed.error;
        return decoder.toDocument(parsed, context);
      });
      for (const document of documents) t.strictSame(document, documents[0]);
    }),
    { seed, numRuns: 500 },
  );
});

t.test('every field of a message is found in its document', async () => {
  const decoder = createDecoder();
  fc.assert(
    fc.property(fields, (pairs) => {
      const marked = pairs
        .map(([key], index) => [key, `marker-${index}`] as const)
        .filter(([key]) => key !== 'version');
      const parsed = decoder.parse(Buffer.from(`{${textOf(marked)}}`));
      if ('error' in parsed) throw parsed.error;
      const document = decoder.toDocument(parsed, context);
      const values = new Set(Object.values(document));
      for (const [, marker] of new Map(marked.filter(([key]) => key !== 'short_message' && key !== 'host')).entries()) {
        if (!values.has(marker)) throw new Error(`${marker} is lost: ${JSON.stringify(document)}`);
      }
      t.match(document, {
        source: '10.0.0.7',
        message: 'x',
        receiver: 'r',
        peer_address: '10.0.0.7',
        receive_time: '2026-01-02T03:04:05.000Z',
      });
    }),
    { seed, numRuns: 1000 },
  );
});

t.test('literals are found for every top-level field', async () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue({ maxDepth: 3 }), { noNullPrototype: true }),
      fc.constantFrom('', '  '),
      (object, space) => {
        const literals = literalsOf(JSON.stringify(object, null, space));
        for (const [key, field] of Object.entries(object))
          t.equal(compactJson(literals.get(key) ?? 'missing'), JSON.stringify(field));
      },
    ),
    { seed, numRuns: 500 },
  );
});

t.test('compact JSON keeps numbers as they were written and repairs what is lenient', async (t) => {
  t.equal(compactJson('{ "a" : 1.10 , "b" : [ 12345678901234567890 , ] , }'), '{"a":1.10,"b":[12345678901234567890]}');
  t.equal(compactJson('[" , ]","\\" "]'), '[" , ]","\\" "]');
  t.equal(compactJson('["a\tb\u0001"]'), '["a\\tb\\u0001"]');
  t.equal(compactJson('[ true , null , -1e5 ]'), '[true,null,-1e5]');
});

t.test('no input makes the decoder throw', async () => {
  const decoder = createDecoder();
  const letters = fc.constantFrom(
    '{',
    '}',
    '[',
    ']',
    '"',
    ',',
    ':',
    '\\',
    'a',
    '1',
    ' ',
    '\0',
    '\uFEFF',
    '"short_message":"x"',
    '"_a":',
    'u00',
    'null',
    '-',
    '1e400',
    '12345678901234567890',
  );
  const decode = (bytes: Buffer) => {
    const parsed = decoder.parse(bytes);
    if (!('error' in parsed)) decoder.toDocument(parsed, context);
  };
  fc.assert(
    fc.property(fc.array(letters, { maxLength: 30 }), (parts) => {
      decode(Buffer.from(parts.join('')));
    }),
    { seed, numRuns: 3000 },
  );
  fc.assert(
    fc.property(fc.array(letters, { maxLength: 20 }), (parts) => {
      decode(Buffer.from(`{"short_message":"x",${parts.join('')}}`));
    }),
    { seed, numRuns: 3000 },
  );
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
      decode(Buffer.from(bytes));
    }),
    { seed, numRuns: 1000 },
  );
});

t.test('times are written as JavaScript writes them', async () => {
  const iso = createIsoFormatter();
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 253_402_300_799_999 }), fc.nat(5000), (start, step) => {
      for (const time of [start, start + step, start + 1])
        if (time <= 253_402_300_799_999) t.equal(iso(time), new Date(time).toISOString());
    }),
    { seed, numRuns: 300 },
  );
});
