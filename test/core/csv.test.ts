/** The one writer of CSV, of the API and of the command line. */
import t from 'tap';
import { csvLines } from '../../core/csv.js';

t.test('every value is quoted, a missing one is nothing, lines end with LF', async (t) => {
  t.equal(csvLines([['a', 1, true, null, undefined, '']]), '"a","1","true",,,""\n');
  t.equal(
    csvLines([
      ['a "b", c', 'one\ntwo\r\n', 1.5e-7],
      [['x', 'y'], { z: 1 }, false],
    ]),
    '"a ""b"", c","one\ntwo\r\n","1.5e-7"\n"[""x"",""y""]","{""z"":1}","false"\n',
  );
  t.equal(csvLines([]), '');
});

t.test('a text that a spreadsheet would compute gets an apostrophe', async (t) => {
  const signs = ['=', '+', '-', '@', '＝', '＋', '－', '＠'];
  const computed = signs.flatMap((sign) => ['', '\n', '\r\n', '\t', '\n\n'].map((before) => `${before}${sign}x+1`));
  for (const text of [...computed, '\n=1+1', '＝1+1', '=1', '＋1', '－1', '\tx', '\rx', '\n-5', '+1+1', '-1-1'])
    t.equal(csvLines([[text]]), `"'${text}"\n`, JSON.stringify(text));
});

t.test('plain numbers and texts with a sign further on are left as they are', async (t) => {
  for (const text of ['-5', '+49', '-1.5e-7', 'a=1', ' =1', '5-3', 'a\n=1', ''])
    t.equal(csvLines([[text]]), `"${text}"\n`, JSON.stringify(text));
  t.equal(csvLines([[-5]]), '"-5"\n');
});
