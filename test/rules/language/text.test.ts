import t from 'tap';
import { parseDocument } from 'yaml';
import { readFileText } from '../../../rules/language/text.js';

const textOf = (data: unknown): string => `${JSON.stringify(data, undefined, 2)}\n`;

t.test('the JSON of stored definitions is read as YAML reads it', (t) => {
  const values: readonly unknown[] = [
    '',
    ' white ',
    'line\nbreak\ttab \u2028 \u0085 \u007f \ud83d\ude00 \ud800',
    'a: b #c *d &e !f "g" \\h <<',
    '0x1F',
    'yes',
    0,
    -1.5,
    1e21,
    1e-7,
    true,
    null,
    [],
    {},
    [[], [{}], 'x'],
    { '': 1, '<<': 2, 'a b': { 'c:': [3] }, '~': 4, ['k'.repeat(990)]: 5, ['k'.repeat(1_025)]: 6 },
  ];
  for (const [at, value] of values.entries()) {
    const text = textOf({ value });
    const document = parseDocument(text, { uniqueKeys: true });
    const read = readFileText(text);
    if (document.errors.length > 0) t.match(read, { mistakes: [{ message: /^This is no YAML/ }] });
    else t.same('data' in read ? read.data : undefined, document.toJS(), `value ${at}`);
  }
  t.end();
});

t.test('any other JSON is YAML: a key that stands twice is a mistake', (t) => {
  t.match(readFileText('{\n  "streams": [],\n  "streams": []\n}\n'), {
    mistakes: [{ line: 3, column: 3, message: 'The key stands here twice.' }],
  });
  t.end();
});

t.test('places in JSON are those of its text', (t) => {
  const read = readFileText(textOf({ streams: [{ id: 'a' }, { id: 'b', title: 5 }] }));
  if (!('data' in read)) throw new Error('it was not read');
  t.same(read.positionOf(['streams', 1, 'title'], false), { line: 8, column: 16 });
  t.same(read.positionOf(['streams', 1, 'title'], true), { line: 8, column: 7 });
  t.end();
});
