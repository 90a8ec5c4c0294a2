import fc from 'fast-check';
import t from 'tap';
import { trim } from '../../../core/trim.js';
import { splitArray, splitDocuments, splitLines, type Documents } from '../../../receivers/listen/documents.js';
import { slowness } from '../../deadlines.js';

const seed = 20_260_102;
const textsOf = (documents: Documents): string[] | string =>
  'problem' in documents ? documents.problem : documents.documents.map((document) => document.toString());
/** Any JSON value, as text with white space where JSON allows it. */
const jsonText = fc
  .tuple(fc.jsonValue({ maxDepth: 3 }), fc.constantFrom(0, 1, 2))
  .map(([value, indent]) => JSON.stringify(value, undefined, indent));
const jsonObject = fc
  .tuple(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 })), fc.constantFrom(0, 2))
  .map(([value, indent]) => JSON.stringify(value, undefined, indent));
const space = fc.constantFrom('', ' ', '\n', '\r\n', '\t ', '  \n ');

t.test('the elements of any array come out as they were written', (t) => {
  fc.assert(
    fc.property(fc.array(jsonText, { maxLength: 8 }), space, (elements, gap) => {
      const array = Buffer.from(`${gap}[${gap}${elements.join(`${gap},${gap}`)}${gap}]${gap}`);
      return JSON.stringify(textsOf(splitArray(array, 100))) === JSON.stringify(elements);
    }),
    { seed, numRuns: 2000 },
  );
  t.end();
});

t.test('objects in a row come out as they were written', (t) => {
  fc.assert(
    fc.property(
      fc.array(jsonObject, { maxLength: 8 }),
      space,
      (objects, gap) =>
        JSON.stringify(textsOf(splitDocuments(Buffer.from(`${gap}${objects.join(gap)}${gap}`), 100))) ===
        JSON.stringify(objects),
    ),
    { seed, numRuns: 2000 },
  );
  t.end();
});

t.test('no bytes throw, and no document reaches beyond them', (t) => {
  const mixed = fc.oneof(
    fc.uint8Array({ maxLength: 200 }),
    fc
      .string({ unit: fc.constantFrom('{', '}', '[', ']', '"', '\\', ',', ' ', '\n', 'a', '1', ':'), maxLength: 60 })
      .map((text) => Buffer.from(text)),
  );
  fc.assert(
    fc.property(mixed, (input) => {
      const bytes = Buffer.from(input);
      for (const split of [splitArray, splitDocuments, splitLines]) {
        const result = split(bytes, 50);
        if (
          'documents' in result &&
          result.documents.reduce((sum, document) => sum + document.length, 0) > bytes.length
        )
          return false;
      }
      return trim(bytes).length <= bytes.length;
    }),
    { seed, numRuns: 5000 },
  );
  t.end();
});

t.test('arrays that are none', (t) => {
  for (const text of ['', '[', '[1', '[1,', '[1,2', '{}', '[1 2]', '[1]]', '[1] x', '[,]', '["a]', '[{"a":1]', '[}'])
    t.equal(textsOf(splitArray(Buffer.from(text), 10)), 'not_an_array', text);
  t.same(textsOf(splitArray(Buffer.from('[1,2,]'), 10)), ['1', '2'], 'a last comma is forgiven');
  t.same(textsOf(splitArray(Buffer.from('[]'), 10)), []);
  t.end();
});

t.test('more than the allowed number is said so', (t) => {
  t.equal(textsOf(splitArray(Buffer.from('[1,2,3]'), 2)), 'too_many');
  t.equal(textsOf(splitDocuments(Buffer.from('{}{}{}'), 2)), 'too_many');
  t.equal(textsOf(splitLines(Buffer.from('a\nb\nc'), 2)), 'too_many');
  t.end();
});

t.test('what stands behind the last whole document comes as one of its own', (t) => {
  t.same(textsOf(splitDocuments(Buffer.from('{"a":1} trailing words'), 10)), ['{"a":1}', 'trailing words']);
  t.same(textsOf(splitDocuments(Buffer.from('{"a":1}{"b":'), 10)), ['{"a":1}', '{"b":']);
  t.end();
});

t.test('a long run of backslashes or brackets takes linear time', (t) => {
  const began = Date.now();
  splitArray(Buffer.from(`["${'\\'.repeat(4_000_000)}`), 10);
  splitArray(Buffer.from(`["${'\\"'.repeat(2_000_000)}`), 10);
  splitDocuments(Buffer.from('['.repeat(4_000_000)), 10);
  t.ok(Date.now() - began < 3_000 * slowness);
  t.end();
});
