/** The index of words: what it makes quicker never shows in an answer. */
import { DuckDBInstance } from '@duckdb/node-api';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import fc from 'fast-check';
import { pino } from 'pino';
import t, { type Test } from 'tap';
import { Registry } from '../../../../core/metrics.js';
import { createRandom, pick } from '../../../../load/random.js';
import type { QueryNode, SearchRequest } from '../../../../schemas/query.js';
import { lowerCase, wordsOf } from '../../../../schemas/words.js';
import { compileQuery } from '../../../../search/reference/evaluate.js';
import type { IndexStore } from '../../../../sinks/stores/contract.js';
import type { DuckStoreOptions } from '../../../../sinks/stores/duckdb/store.js';
import { expressionHints } from '../../../../sinks/stores/duckdb/sql/query-sql.js';
import { eachRow, PostingsBuffer } from '../../../../sinks/stores/duckdb/words/postings.js';
import { RowSet } from '../../../../sinks/stores/duckdb/words/row-set.js';
import { metricValue } from '../../../topics/embedded/folder.js';
import { until } from '../../../program.js';
import { batchOf, idOf, type StoredDocument } from '../contract/contract.js';
import { createIndex, openStoreIn } from './support/open-store.js';
import { wordsKnown } from './support/words.js';

t.setTimeout(120_000);

const segmentRows = 64;
const small = { segmentRows, idleMs: 0, everyMs: 10 };
const leastRows = segmentRows / 8;
const start = Date.UTC(2026, 0, 1);
const vocabulary = [
  'alpha',
  'beta',
  'gamma',
  'delta',
  'alphabet',
  'al-pha',
  'Alpha',
  'ÄÖ',
  '你好',
  'x_1',
  '10.0.0.7',
  'beta',
  'beta',
];

function documentsOf(count: number, seed: number): (StoredDocument & { readonly timestamp: string })[] {
  const random = createRandom(seed);
  return Array.from({ length: count }, (_, at) => ({
    message:
      Array.from({ length: random() % 6 }, () => pick(random, vocabulary)).join(pick(random, [' ', ', ', '\n'])) +
      (at % 97 === 5 ? ` ${'long '.repeat(16_000)}` : '') +
      (at % 89 === 7 ? ` ${'y'.repeat(5_000)}` : ''),
    source: pick(random, ['host-1', 'Host-2', 'alpha']),
    timestamp: new Date(start + at * 1_000).toISOString(),
    ...(random() % 5 === 0 ? { full_message: `at ${pick(random, vocabulary)}.${pick(random, vocabulary)}` } : {}),
    ...(random() % 3 === 0 ? { namespace: pick(random, ['shop', 'mail']) } : {}),
  }));
}

const term = (text: string, field?: string): QueryNode => ({ kind: 'term', field, text });
const queries: readonly QueryNode[] = [
  term('alpha'),
  term('ALPHA', 'message'),
  term('host-1'),
  term('al-pha'),
  term('long'),
  term('beta', 'full_message'),
  term('nothing'),
  term('10.0.0.7'),
  term('-'),
  term('alpha', 'source'),
  { kind: 'phrase', field: undefined, text: 'beta gamma' },
  { kind: 'phrase', field: 'message', text: 'beta, beta' },
  { kind: 'and', children: [term('beta'), term('delta'), term('shop', 'namespace')] },
  { kind: 'and', children: [term('beta'), { kind: 'not', child: term('alpha') }] },
  {
    kind: 'and',
    children: [term('beta'), { kind: 'not', child: { kind: 'phrase', field: 'message', text: 'beta gamma' } }],
  },
  { kind: 'or', children: [{ kind: 'phrase', field: 'message', text: 'delta beta' }, term('gamma', 'message')] },
  { kind: 'or', children: [term('gamma'), term('mail', 'namespace')] },
  { kind: 'not', child: term('beta') },
  { kind: 'wildcard', field: undefined, pattern: 'al*' },
  { kind: 'wildcard', field: 'message', pattern: '*t?' },
  { kind: 'wildcard', field: undefined, pattern: 'host*' },
  { kind: 'wildcard', field: 'message', pattern: '*' },
  { kind: 'wildcard', field: undefined, pattern: '你*' },
  { kind: 'wildcard', field: 'message', pattern: 'yyyy*' },
  { kind: 'regex', field: 'message', pattern: 'al[a-z]+(et|ha)' },
  { kind: 'regex', field: undefined, pattern: 'host-[0-9]' },
  { kind: 'regex', field: 'message', pattern: 'be?ta|del.*' },
];

t.test('searches answer as plain code does, whether all, some or none of the words are known', async (t) => {
  const { store, index, registry } = await openIndex(t, folderOf(t), { words: small });
  const documents = documentsOf(300, 7);
  await store.documents.write(batchOf(index, documents, 0));
  await wordsKnown(registry, leastRows);
  await compare(t, store, index, documents, 'known');
  const more = documentsOf(50, 8);
  await store.documents.write(batchOf(index, more, documents.length));
  await compare(t, store, index, [...documents, ...more], 'not known of the last ones');
});

t.test('a segment ends early where there are many words, and leaves out texts that are too long', async (t) => {
  const folder = folderOf(t);
  const { store, index, registry } = await openIndex(t, folder, {
    words: { ...small, segmentRows: 4_096, segmentPostings: 300 },
  });
  const documents = [
    ...documentsOf(400, 15),
    { message: `needle ${'🙂'.repeat(70_000)}`, source: 'h', timestamp: new Date(start).toISOString() },
    ...documentsOf(200, 16),
  ];
  await store.documents.write(batchOf(index, documents, 0));
  await wordsKnown(registry, 4_096 / 8);
  await compare(t, store, index, documents, 'in many segments');
  t.equal(await count(store, index, term('needle')), 1);
  await store.stop(5_000);
  const [[segments] = []] = await onFile(folder, index, 'SELECT count(*)::DOUBLE FROM x.word_segments');
  t.ok((segments as number) > 1, `${String(segments)} segments`);
});

t.test(
  'a word that thousands of messages have is counted, charted and listed in order, alone and with other conditions',
  async (t) => {
    const { store, index, registry } = await openIndex(t, folderOf(t), { words: { ...small, segmentRows: 4_096 } });
    const documents = documentsOf(12_000, 14);
    for (let first = 0; first < documents.length; first += 4_000)
      await store.documents.write(batchOf(index, documents.slice(first, first + 4_000), first));
    await wordsKnown(registry, 4_096 / 8);
    const found: number[] = [];
    for (const query of [
      term('beta'),
      { kind: 'and', children: [term('beta'), term('shop', 'namespace')] },
      { kind: 'and', children: [term('alpha'), term('delta')] },
      { kind: 'phrase', field: 'message', text: 'beta beta' },
      { kind: 'wildcard', field: undefined, pattern: 'al*' },
    ] satisfies QueryNode[]) {
      const matches = compileQuery(query);
      const times = documents.filter(matches).map(({ timestamp }) => timestamp);
      const request = { indices: [index], query };
      const { total, hits } = await store.queries.search({
        ...request,
        limit: 50,
        sort: { field: 'timestamp', direction: 'desc' },
      });
      t.same(
        { total, times: hits.map(({ document }) => document['timestamp']) },
        { total: times.length, times: times.slice(-50).reverse() },
        JSON.stringify(query),
      );
      const { buckets } = await store.queries.aggregate({
        ...request,
        groups: [{ kind: 'time', field: 'timestamp', interval: { unit: 'hour', count: 1 } }],
        metrics: [],
      });
      t.same(
        buckets.map(({ key, documents: count }) => [key[0], count]),
        byHour(times),
        JSON.stringify(query),
      );
      found.push(total);
    }
    t.ok(
      found.some((total) => total > 5_000) && found.some((total) => total > 1_000 && total < 5_000),
      `lists and tables alike: ${found.join(', ')}`,
    );
  },
);

function byHour(times: readonly string[]): [number, number][] {
  const hours = new Map<number, number>();
  for (const time of times) {
    const hour = Math.floor(Date.parse(time) / 3_600_000) * 3_600_000;
    hours.set(hour, (hours.get(hour) ?? 0) + 1);
  }
  return [...hours];
}

t.test('words are looked up in the index, and it is there after a restart', async (t) => {
  const folder = folderOf(t);
  const first = await openIndex(t, folder, { words: small });
  const documents = documentsOf(300, 9);
  await first.store.documents.write(batchOf(first.index, documents, 0));
  await wordsKnown(first.registry, leastRows);
  await first.store.stop(5_000);
  await onFile(folder, first.index, `DELETE FROM x.words WHERE word = 'gamma'`);
  const again = await openIndex(t, folder, { words: { ...small, everyMs: 3_600_000 } });
  t.ok(
    (await count(again.store, first.index, term('gamma', 'message'))) <
      documents.filter(compileQuery(term('gamma', 'message'))).length,
    'a word that the index does not have is not found',
  );
  t.equal(
    await count(again.store, first.index, term('alpha', 'message')),
    documents.filter(compileQuery(term('alpha', 'message'))).length,
  );
});

t.test('a document that is replaced is found by its words now, before and after they are known again', async (t) => {
  const { store, index, registry } = await openIndex(t, folderOf(t), { words: small });
  const documents = documentsOf(200, 10);
  await store.documents.write(batchOf(index, documents, 0));
  await wordsKnown(registry, leastRows);
  const id = `${idOf(3)}-0`;
  const revision = (await store.documents.read(index, [id])).get(id)?.revision ?? '';
  documents[3] = { message: 'epsilon', source: 'h', timestamp: new Date(start).toISOString() };
  await store.documents.update(index, [{ id, document: JSON.stringify(documents[3]), expected: revision }]);
  t.equal(await count(store, index, term('epsilon')), 1);
  await compare(t, store, index, documents, 'right after');
  await wordsKnown(registry, leastRows);
  await compare(t, store, index, documents, 'later');
});

t.test('without the index nothing is written for it, and a file that has one is searched all the same', async (t) => {
  const folder = folderOf(t);
  const first = await openIndex(t, folder, { words: small });
  const documents = documentsOf(200, 11);
  await first.store.documents.write(batchOf(first.index, documents, 0));
  await wordsKnown(first.registry, leastRows);
  await first.store.stop(5_000);
  const [[before] = []] = await onFile(folder, first.index, 'SELECT count(*)::DOUBLE FROM x.word_segments');
  const second = await openIndex(t, folder, { words: { segmentRows: 0 } });
  const more = documentsOf(200, 12);
  await second.store.documents.write(batchOf(first.index, more, documents.length));
  await compare(t, second.store, first.index, [...documents, ...more], 'half of the words are known');
  await second.store.stop(5_000);
  t.same(await onFile(folder, first.index, 'SELECT count(*)::DOUBLE FROM x.word_segments'), [[before]]);
});

t.test('an index that takes no words is told, is searched all the same, and holds up no other', async (t) => {
  const folder = folderOf(t);
  const first = await openIndex(t, folder, { words: small });
  const documents = documentsOf(200, 17);
  await first.store.documents.write(batchOf(first.index, documents, 0));
  await wordsKnown(first.registry, leastRows);
  await first.store.stop(5_000);
  await onFile(folder, first.index, 'ALTER TABLE x.words ADD COLUMN more INTEGER');
  await onFile(folder, first.index, 'DELETE FROM x.word_segments');
  const lines: Record<string, unknown>[] = [];
  const log = pino(
    { level: 'warn' },
    new Writable({
      write: (line: Buffer, _, done) => {
        lines.push(JSON.parse(line.toString()) as Record<string, unknown>);
        done();
      },
    }),
  );
  const second = await openIndex(t, folder, { words: small, log });
  await compare(t, second.store, first.index, documents, 'none of the words are known');
  const line = await until(
    () => lines.find(({ index }) => index === first.index),
    10_000,
    () => JSON.stringify(lines),
  );
  t.match(line, { level: 40, reason: /column/ });
  t.equal(await metricValue(second.registry, 'sluice_store_words_failures_total', { store: 'embedded' }), 1);
  await second.store.documents.write(batchOf(second.index, documents, 0));
  await wordsKnown(second.registry, documents.length + leastRows);
  await compare(t, second.store, first.index, documents, 'after the failure');
});

t.test('the store stops while words are being put into the index', async (t) => {
  const folder = folderOf(t);
  const documents = documentsOf(2_000, 13);
  const first = await openIndex(t, folder, { words: { ...small, everyMs: 1 } });
  await first.store.documents.write(batchOf(first.index, documents, 0));
  await first.store.stop(5_000);
  const second = await openIndex(t, folder, { words: small });
  await compare(t, second.store, first.index, documents, 'after a stop in between');
});

t.test('postings come back as they were written', (t) => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.tuple(fc.integer({ min: 0, max: 200_000 }), fc.integer({ min: 1, max: 7 })), {
        selector: ([row]) => row,
        maxLength: 300,
      }),
      fc.integer({ min: 1, max: 7 }),
      (pairs, fields) => {
        const sorted = [...pairs].sort(([one], [other]) => one - other);
        const buffer = new PostingsBuffer();
        let before = 0;
        for (const [row, mask] of sorted) {
          buffer.add(row - before, mask);
          before = row;
        }
        const rows: number[] = [];
        eachRow(buffer.bytes.subarray(0, buffer.length), fields, (row) => rows.push(row));
        return (
          JSON.stringify(rows) ===
          JSON.stringify(sorted.filter(([, mask]) => (mask & fields) !== 0).map(([row]) => row))
        );
      },
    ),
  );
  t.end();
});

t.test('sets of rows are united, intersected and turned around', (t) => {
  const rowsOf = (set: RowSet): number[] => {
    const list: number[] = [];
    set.appendTo(list, 0);
    return list;
  };
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 200 }), fc.array(fc.nat(199)), fc.array(fc.nat(199)), (size, one, other) => {
      const filled = (rows: readonly number[]): RowSet => {
        const set = new RowSet(size);
        for (const row of rows) if (row < size) set.add(row);
        return set;
      };
      const all = Array.from({ length: size }, (_, row) => row);
      const [united, both, none] = [filled(one), filled(one), filled(one)];
      united.unite(filled(other));
      both.intersect(filled(other));
      none.invert();
      const same = (set: RowSet, wanted: readonly number[]): boolean =>
        JSON.stringify(rowsOf(set)) === JSON.stringify(wanted);
      return (
        same(
          united,
          all.filter((row) => one.includes(row) || other.includes(row)),
        ) &&
        same(
          both,
          all.filter((row) => one.includes(row) && other.includes(row)),
        ) &&
        same(
          none,
          all.filter((row) => !one.includes(row)),
        )
      );
    }),
  );
  t.end();
});

t.test('texts are cut into words alike, whatever characters they have', (t) => {
  const text = fc.oneof(
    fc.string(),
    fc.string({ unit: 'binary' }),
    fc
      .array(fc.constantFrom('a', 'Z', '7', '_', '-', ' ', '\n', '\0', 'é', 'ß', '\u00a0'))
      .map((parts) => parts.join('')),
  );
  fc.assert(
    fc.property(
      text,
      (one) =>
        JSON.stringify(wordsOf(one)) ===
        JSON.stringify(
          lowerCase(one)
            .split(/[\p{Z}\p{P}\p{S}\p{Cc}]+/u)
            .filter((word) => word !== ''),
        ),
    ),
  );
  t.same(wordsOf('a'.repeat(5_000)), ['a'.repeat(4_096)]);
  t.end();
});

t.test('what an expression begins with and contains is in each of its matches', (t) => {
  const part = fc.constantFrom('ab', 'c', 'd?', 'e*', 'f+', '[gh]', '(ij|k)', '(?:lm)', '.', 'n{0}', 'o{1,2}', '|');
  fc.assert(
    fc.property(
      fc.array(part, { maxLength: 5 }).map((parts) => parts.join('')),
      fc.array(fc.constantFrom(...'abcdefghijklmno'), { maxLength: 8 }).map((letters) => letters.join('')),
      (pattern, word) => {
        const { prefix, literal } = expressionHints(pattern);
        return !new RegExp(`^(?:${pattern})$`, 'u').test(word) || (word.startsWith(prefix) && word.includes(literal));
      },
    ),
    { numRuns: 5_000 },
  );
  t.same(expressionHints('err[a-z]+'), { prefix: 'err', literal: 'err' });
  t.same(expressionHints('(?i)err'), { prefix: '', literal: '' });
  t.same(expressionHints('abc*def'), { prefix: 'ab', literal: 'def' });
  t.end();
});

async function compare(
  t: Test,
  store: IndexStore,
  index: string,
  documents: readonly (StoredDocument & { readonly timestamp?: string })[],
  when: string,
): Promise<void> {
  for (const query of queries) {
    for (const range of [{}, { from: start + 30_000, to: start + 150_000 }]) {
      const matches = compileQuery(query);
      const within = ({ timestamp }: { readonly timestamp?: string }): boolean =>
        range.from === undefined ||
        (Date.parse(timestamp ?? '') >= range.from && Date.parse(timestamp ?? '') < (range.to ?? 0));
      const expected = documents.flatMap((document, at) =>
        within(document) && matches(document) ? [`${idOf(at)}-0`] : [],
      );
      const request: SearchRequest = { indices: [index], query, limit: documents.length, ...range };
      const { hits, total } = await store.queries.search(request);
      t.same(
        { total, ids: hits.map((hit) => hit._id).sort() },
        { total: expected.length, ids: expected.sort() },
        `${JSON.stringify(query)} ${JSON.stringify(range)}, ${when}`,
      );
    }
  }
}

async function count(store: IndexStore, index: string, query: QueryNode): Promise<number> {
  return (await store.queries.search({ indices: [index], query, limit: 1 })).total;
}

/** On the file of a store that is stopped. */
async function onFile(folder: string, index: string, sql: string): Promise<unknown[][]> {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  await connection.run(`ATTACH '${join(folder, 'indices', `${index}.duckdb`)}' AS x`);
  const rows = (await connection.runAndReadAll(sql)).getRows();
  await connection.run('DETACH x');
  connection.closeSync();
  instance.closeSync();
  return rows;
}

function folderOf(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-words-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function openIndex(
  t: Test,
  folder: string,
  more: Partial<DuckStoreOptions>,
): Promise<{ readonly store: IndexStore; readonly index: string; readonly registry: Registry }> {
  const registry = new Registry();
  const store = await openStoreIn(t, folder, { memoryBytes: 512 * 2 ** 20, registry, ...more });
  return { store, index: await createIndex(store), registry };
}
