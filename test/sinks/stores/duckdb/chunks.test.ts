/** What goes into a vector comes out of the table exactly, whatever its length, script and place. */
import fc from 'fast-check';
import {
  BOOLEAN,
  DOUBLE,
  DuckDBInstance,
  INTEGER,
  VARCHAR,
  type DuckDBConnection,
  type DuckDBType,
} from '@duckdb/node-api';
import t from 'tap';
import type { Cell } from '../../../../sinks/stores/duckdb/write/batch.js';
import { appendChunks } from '../../../../sinks/stores/duckdb/write/chunks.js';

const types: readonly DuckDBType[] = [VARCHAR, VARCHAR, DOUBLE, INTEGER, BOOLEAN];
const instance = await DuckDBInstance.create(':memory:');
t.teardown(() => instance.closeSync());

async function stored(connection: DuckDBConnection, columns: readonly Cell[][]): Promise<unknown[][]> {
  await connection.run('CREATE OR REPLACE TABLE cells (a VARCHAR, b VARCHAR, c DOUBLE, d INTEGER, e BOOLEAN)');
  const appender = await connection.createAppender('cells');
  appendChunks(appender, types, columns);
  appender.closeSync();
  const rows = (await connection.runAndReadAll('SELECT * FROM cells ORDER BY rowid')).getRows();
  return types.map((_, at) => rows.map((row) => row[at]));
}

const text = fc.oneof(
  fc.string({ maxLength: 40 }),
  fc.string({ unit: 'grapheme', maxLength: 30 }),
  fc.constantFrom(
    '',
    'a',
    'exactly 12 b',
    'exactly 13 by',
    'ä'.repeat(6),
    'ä'.repeat(7),
    '\0',
    'x\0y',
    '😀😀😀',
    '😀😀😀😀',
  ),
);
const cell = <Value extends Cell>(value: fc.Arbitrary<Value>): fc.Arbitrary<Cell> =>
  fc.option(value, { nil: null, freq: 4 });
const row = fc.tuple(
  cell(text),
  cell(fc.string({ unit: 'grapheme-ascii', maxLength: 30 })),
  cell(fc.double({ noNaN: true })),
  cell(fc.integer()),
  cell(fc.boolean()),
);

t.test('any cells are read as they were written', async (t) => {
  const connection = await instance.connect();
  await fc.assert(
    fc.asyncProperty(
      fc.array(row, { minLength: 1, maxLength: 80 }),
      fc.integer({ min: 1, max: 60 }),
      async (rows, times) => {
        const repeated = Array.from({ length: times }, () => rows).flat();
        const columns = types.map((_, at) => repeated.map((cells) => cells[at] as Cell));
        t.strictSame(await stored(connection, columns), columns);
      },
    ),
    { numRuns: 60, seed: 20261121 },
  );
  connection.closeSync();
});

t.test('texts of every length around the inlined ones lie beside each other in a full chunk', async (t) => {
  const connection = await instance.connect();
  const ascii = Array.from({ length: 5000 }, (_, at) =>
    String(at)
      .repeat(at % 9)
      .slice(0, at % 30),
  );
  const unicode = ascii.map((value, at) => (at % 7 === 0 ? `${value}ß` : value));
  const columns: Cell[][] = [
    ascii,
    unicode,
    ascii.map((value) => value.length),
    ascii.map(() => null),
    ascii.map((_, at) => at % 2 === 0),
  ];
  t.strictSame(await stored(connection, columns), columns);
  connection.closeSync();
});

t.test('a column of more text than goes over at once is stored the same', async (t) => {
  const connection = await instance.connect();
  const large = Array.from({ length: 3 }, (_, at) => String.fromCharCode(97 + at).repeat(12 * 2 ** 20));
  const columns: Cell[][] = [
    large,
    large.map((value) => value.slice(0, 11 * 2 ** 20)),
    [1, 2, 3],
    [1, 2, 3],
    [true, false, null],
  ];
  const result = await stored(connection, columns);
  t.ok(result.every((cells, at) => cells.every((one, place) => one === columns[at]?.[place])));
  connection.closeSync();
});

t.test('a lone surrogate becomes the replacement character and spoils no neighbour', async (t) => {
  const connection = await instance.connect();
  const nothing = [null, null, null];
  const result = await stored(connection, [
    ['one \ud83d', '\ude00 two', 'three and more text'],
    nothing,
    nothing,
    nothing,
    nothing,
  ]);
  t.strictSame(result[0], ['one \ufffd', '\ufffd two', 'three and more text']);
  connection.closeSync();
});

t.test('rows of one append leave nothing behind for the next, of the same types or others', async (t) => {
  const connection = await instance.connect();
  const first: Cell[][] = [
    ['a text beyond the inlined bytes', 'b'],
    ['x', null],
    [1, null],
    [2, 3],
    [true, null],
  ];
  const second: Cell[][] = [
    [null, 'c', 'another text beyond the inlined bytes'],
    [null, null, null],
    [null, 5, 6],
    [7, null, null],
    [null, false, null],
  ];
  for (const columns of [first, second, first, second.map((cells) => cells.slice(0, 1))]) {
    t.strictSame(await stored(connection, columns), columns);
    await connection.run('CREATE OR REPLACE TABLE other (a VARCHAR)');
    const appender = await connection.createAppender('other');
    appendChunks(appender, [VARCHAR], [columns[0] as Cell[]]);
    appender.closeSync();
    t.strictSame(
      (await connection.runAndReadAll('SELECT a FROM other ORDER BY rowid')).getRows().map((row) => row[0]),
      columns[0],
    );
  }
  connection.closeSync();
});
