import t from 'tap';
import type { SearchHit } from '../../schemas/query.js';
import type { ExportFormat } from '../../search/contract.js';
import { exportedFields, exportText } from '../../search/export.js';

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

t.test('CSV has a cell for each field, _id and _index among them, and none of the prototype', async (t) => {
  const document = { text: 'a "b", c', number: 1.5e-7, computed: '=1+1' };
  t.equal(
    await exported('csv', ['_id', 'text', 'number', 'computed', 'missing', '_index', 'toString'], [hit('1', document)]),
    '"_id","text","number","computed","missing","_index","toString"\n"1","a ""b"", c","1.5e-7","\'=1+1",,"sluice_default_0",\n',
  );
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
