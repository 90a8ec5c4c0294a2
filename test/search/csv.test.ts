import t from 'tap';
import type { SearchHit } from '../../schemas/query.js';
import { csvHeader, csvLines } from '../../search/csv.js';
import { exportedFields, exportText, type ExportFormat } from '../../search/export.js';

const hit = (id: string, document: Readonly<Record<string, unknown>>): SearchHit => ({
  _id: id,
  _index: 'sluice_default_0',
  document,
});

async function* inBatches(...batches: readonly (readonly SearchHit[])[]): AsyncGenerator<readonly SearchHit[]> {
  for (const batch of batches) yield batch;
}

async function exported(
  format: ExportFormat,
  fields: readonly string[] | undefined,
  ...batches: readonly (readonly SearchHit[])[]
): Promise<string> {
  let text = '';
  for await (const piece of exportText(inBatches(...batches), format, fields)) text += piece.text;
  return text;
}

t.test('every value is quoted, a missing one is nothing, lines end with LF', async (t) => {
  const document = { text: 'a "b", c', lines: 'one\ntwo\r\n', empty: '', number: 1.5e-7, yes: true, list: ['x', 'y'] };
  t.equal(
    csvLines(
      [hit('1', document)],
      ['_id', 'text', 'lines', 'empty', 'number', 'yes', 'list', 'missing', '_index', 'toString'],
    ),
    '"1","a ""b"", c","one\ntwo\r\n","","1.5e-7","true","[""x"",""y""]",,"sluice_default_0",\n',
  );
});

t.test('a cell that a spreadsheet would compute is made a text; numbers are not', async (t) => {
  for (const text of ['=1+1', '+49', '-5', '@cmd', '\tx', '\rx', '\n=1', '＝1', '＋1', '－1', '＠1'])
    t.equal(csvLines([hit('1', { text })], ['text']), `"'${text}"\n`, JSON.stringify(text));
  for (const text of ['a=1', ' =1', '5-3']) t.equal(csvLines([hit('1', { text })], ['text']), `"${text}"\n`);
  t.equal(csvLines([hit('1', { text: -5 })], ['text']), '"-5"\n');
  t.equal(csvHeader(['=evil', 'a"b']), '"\'=evil","a""b"\n');
});

t.test('CSV has a header before the first row, and is empty without rows', async (t) => {
  t.equal(
    await exported('csv', undefined, [], [hit('1', { timestamp: 'T', message: 'm' })], [hit('2', { source: 's' })]),
    '"timestamp","source","message"\n"T",,"m"\n,"s",\n',
  );
  t.equal(await exported('csv', ['a']), '');
  t.same(exportedFields('csv', undefined), ['timestamp', 'source', 'message']);
});

t.test('JSON is one flat document a line, of all fields or of those that were chosen', async (t) => {
  t.equal(
    await exported('json', undefined, [hit('1', { b: 1, a: 'x' }), hit('2', {})]),
    '{"_id":"1","_index":"sluice_default_0","b":1,"a":"x"}\n{"_id":"2","_index":"sluice_default_0"}\n',
  );
  t.equal(
    await exported('json', ['a'], [hit('1', { b: 1, a: 'x' })]),
    '{"_id":"1","_index":"sluice_default_0","a":"x"}\n',
  );
  t.equal(exportedFields('json', undefined), undefined);
});
