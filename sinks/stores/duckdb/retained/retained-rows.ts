/**
 * Rows that match a condition. Finding them is nearly all of the work of a search, most of all where long texts are
 * read, and a list comes with its count, its chart, its next page, and the same question again a few seconds later:
 * which rows match is retained for a while, and only rows that came since are looked at.
 */
import type { DuckDBConnection } from '@duckdb/node-api';
import { timeColumn, timesSql, type Condition } from '../sql/condition-sql.js';
import type { FieldTable } from '../files/fields.js';
import { RetainedItem, RetainedItems, type Span } from './retained-items.js';
import type { QueryNode } from '../../../../schemas/query.js';
import { findFew, hasNoLiterals, type FoundRow, type LookedAt } from './find-few.js';
import { querySql } from '../sql/query-sql.js';
import { shareWithin, type TimeSpan } from '../files/time-span.js';
import { findByWords, insertCandidates, listCandidates, type Candidates } from '../words/find-by-words.js';
import { uncovered, type WordSegment } from '../words/segments.js';
import { SqlParameters } from '../sql/value-sql.js';

const rowBytes = 16;
/** One row in a list, with its id. */
const listedBytes = 128;
/** More of them go into a table of the engine. */
const mostListed = 5_000;
/**
 * So many rows are looked through for the literal text of an expression before that is made ready, which takes as long.
 */
const fewRows = 150_000;

/** The same rows each time, whatever is added meanwhile. */
export interface RowsLease {
  /** To stand behind FROM: columns `place` (the row) and `time` (that of `timestamp`). */
  readonly source: string;
  /** Where there are few. */
  readonly list: readonly FoundRow[] | undefined;
  /** At the most. */
  readonly rows: number;
  release(): void;
}

/** What is needed of an attached index file. */
interface SearchedFile {
  readonly alias: string;
  readonly fields: FieldTable;
  readonly documents: number;
  readonly changes: number;
  readonly times: TimeSpan;
  readonly words: readonly WordSegment[];
}

class Rows extends RetainedItem {
  readonly table: string;
  created = false;
  /** Undefined: they are in the table. */
  list: readonly FoundRow[] | undefined = [];
  /** Rows of the file that have been looked at. */
  covered = 0;
  rows = 0;
  tooMany = false;

  constructor(span: Span, table: string) {
    super(span);
    this.table = table;
  }
}

/** The tables are in the memory of one instance of the engine. */
export class RetainedRows {
  readonly #items: RetainedItems<Rows>;
  /** A condition that more rows match is looked at anew each time. */
  readonly #maxRows: number;
  readonly #maxListed: number;
  #next = 1;

  constructor(maxBytes: number) {
    this.#items = new RetainedItems(maxBytes);
    this.#maxRows = Math.floor(maxBytes / rowBytes / 2);
    this.#maxListed = Math.min(mostListed, Math.floor(maxBytes / listedBytes / 2));
  }

  /** Undefined: too many rows match to be retained. Who gets a lease releases it. */
  async lease(
    connection: DuckDBConnection,
    file: SearchedFile,
    { query, from, to }: Condition,
  ): Promise<RowsLease | undefined> {
    const { sql, values } = conditionOf(file, query);
    const item = this.#items.find(
      JSON.stringify([file.alias, file.changes, sql, values]),
      { from, to },
      (span) => new Rows(span, `memory.main.rows_${this.#next++}`),
    );
    item.leases += 1;
    const release = (): void => {
      item.leases -= 1;
    };
    try {
      await this.sweep(connection);
      await item.fill(async () => {
        await fill(connection, file, item, { query, sql, values, maxRows: this.#maxRows, maxListed: this.#maxListed });
        if (item.tooMany && item.leases === 1) await forget(connection, item);
      });
    } catch (thrown) {
      release();
      throw thrown;
    }
    if (!item.tooMany) return leaseOf(item, release);
    release();
    return undefined;
  }

  async sweep(connection: DuckDBConnection): Promise<void> {
    for (const item of this.#items.sweep()) {
      if (item.leases > 0) continue;
      await forget(connection, item);
      this.#items.gone(item);
    }
  }

  get bytes(): number {
    return this.#items.bytes;
  }
}

/** A search that is cancelled meanwhile leaves it for the next sweep. */
async function forget(connection: DuckDBConnection, item: Rows): Promise<void> {
  if (!item.created) return;
  // Two that drop the same table at once are a conflict.
  item.leases += 1;
  try {
    await connection.run(`DROP TABLE IF EXISTS ${item.table}`);
  } finally {
    item.leases -= 1;
  }
  item.created = false;
  item.bytes = 0;
}

interface Statement {
  readonly sql: string;
  readonly values: string[];
}

interface Filling extends Statement {
  readonly query: QueryNode;
  readonly maxRows: number;
  readonly maxListed: number;
}

function conditionOf({ fields }: SearchedFile, query: QueryNode): Statement {
  const parameters = new SqlParameters();
  return parameters.statement(querySql(query, { fields, parameters }));
}

function leaseOf({ list, table, covered, rows }: Rows, release: () => void): RowsLease {
  if (list === undefined)
    return { source: `(SELECT place, time FROM ${table} WHERE place < ${covered}) AS held`, list, rows, release };
  return {
    get source() {
      return `(${listSql(list)}) AS held`;
    },
    list,
    rows,
    release,
  };
}

function listSql(list: readonly FoundRow[]): string {
  return `SELECT unnest([${list.map(({ row }) => row).join(', ')}]::BIGINT[]) AS place, unnest([${list.map(({ time }) => time ?? 'NULL').join(', ')}]::DOUBLE[]) AS time`;
}

/** Parts whose words are not known; more of them are looked at as one. */
const mostGaps = 4;

/** Looks at the rows that came since. When it rejects, nothing was added. */
async function fill(connection: DuckDBConnection, file: SearchedFile, item: Rows, filling: Filling): Promise<void> {
  const endRow = file.documents;
  if (item.tooMany || item.covered >= endRow) return;
  const part: LookedAt = { ...item.span, alias: file.alias, fields: file.fields, firstRow: item.covered, endRow };
  const { words } = file;
  const gaps = uncovered(words, part);
  const found =
    gaps.length > mostGaps
      ? undefined
      : await findByWords(connection, part, words, { query: filling.query, most: filling.maxRows });
  // A document may have been replaced meanwhile, and the words that were known with it.
  const candidates = words.every((segment) => file.words.includes(segment)) ? found : undefined;
  const finds: Find[] = candidates === undefined ? [] : [await findCandidates(connection, part, candidates, filling)];
  for (const gap of candidates === undefined ? [part] : gaps)
    finds.push(await findAmongTexts(connection, file, { ...part, ...gap }, filling));
  await add(connection, item, finds, filling);
  item.covered = endRow;
}

/** Matching rows: a list of few, or a way to put them into a table. */
type Find = { readonly few: readonly FoundRow[] } | { readonly insert: (table: string) => Promise<number> };

async function findCandidates(
  connection: DuckDBConnection,
  part: LookedAt,
  candidates: Candidates,
  { maxListed }: Filling,
): Promise<Find> {
  if (candidates.rows.length + candidates.unknown.length <= maxListed)
    return { few: await listCandidates(connection, part, candidates) };
  return { insert: (table) => insertCandidates(connection, table, part, candidates) };
}

async function findAmongTexts(
  connection: DuckDBConnection,
  file: SearchedFile,
  part: LookedAt,
  filling: Filling,
): Promise<Find> {
  const few =
    (await findFew(connection, part, filling.query, { most: filling.maxListed })) ??
    (await findNone(connection, file, part, filling.query));
  return few === undefined ? { insert: (table) => insert(connection, table, part, filling) } : { few };
}

async function add(
  connection: DuckDBConnection,
  item: Rows,
  finds: readonly Find[],
  { maxRows, maxListed }: Filling,
): Promise<void> {
  const few = finds.flatMap((find) => ('few' in find ? find.few : []));
  if (finds.every((find) => 'few' in find) && item.list !== undefined && item.list.length + few.length <= maxListed) {
    item.list = item.list.concat(few);
    item.rows = item.list.length;
    item.bytes = item.rows * listedBytes;
    return;
  }
  await moveToTable(connection, item);
  let added = 0;
  await connection.run('BEGIN');
  if (few.length > 0) added += (await connection.run(`INSERT INTO ${item.table} ${listSql(few)}`)).rowsChanged;
  for (const find of finds) if ('insert' in find) added += await find.insert(item.table);
  await connection.run('COMMIT');
  item.rows += added;
  item.bytes = item.rows * rowBytes;
  item.tooMany = item.rows > maxRows;
}

async function findNone(
  connection: DuckDBConnection,
  file: SearchedFile,
  part: LookedAt,
  query: QueryNode,
): Promise<readonly FoundRow[] | undefined> {
  const isShort = (part.endRow - part.firstRow) * shareWithin(file.times, part) <= fewRows;
  return isShort && (await hasNoLiterals(connection, part, query)) ? [] : undefined;
}

async function moveToTable(connection: DuckDBConnection, item: Rows): Promise<void> {
  if (!item.created) await connection.run(`CREATE TABLE IF NOT EXISTS ${item.table} (place BIGINT, time DOUBLE)`);
  item.created = true;
  if (item.list !== undefined && item.list.length > 0)
    await connection.run(`INSERT INTO ${item.table} ${listSql(item.list)}`);
  item.list = undefined;
}

async function insert(
  connection: DuckDBConnection,
  table: string,
  part: LookedAt,
  { sql, values, maxRows }: Filling,
): Promise<number> {
  const time = timeColumn(part.fields);
  const within = [`rowid >= ${part.firstRow}`, `rowid < ${part.endRow}`, ...timesSql(time, part), sql].join(' AND ');
  return (
    await connection.run(
      `INSERT INTO ${table} SELECT rowid, ${time} FROM ${part.alias}.documents WHERE ${within} LIMIT ${maxRows + 1}`,
      values,
    )
  ).rowsChanged;
}
