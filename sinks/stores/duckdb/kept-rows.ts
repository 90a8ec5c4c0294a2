/**
 * Rows that match a condition. Finding them is nearly all of the work of a search, most of all where long texts are read, and a list comes with its count,
 * its chart, its next page, and the same question again a few seconds later: which rows match is kept for a while, and only rows that came since are looked at.
 */
import type { DuckDBConnection } from '@duckdb/node-api';
import { timeColumn, timesSql, type Condition } from './condition-sql.js';
import type { FieldTable } from './fields.js';
import { KeptItem, KeptItems, type Span } from './kept-items.js';
import type { QueryNode } from '../../../schemas/query.js';
import { querySql } from './query-sql.js';
import { shareWithin, type TimeSpan } from './time-span.js';
import { SqlParameters } from './value-sql.js';

const rowBytes = 16;
/** So many rows are looked through for the literal text of an expression before that is made ready, which takes as long. */
const fewRows = 150_000;

export interface HeldRows {
  /** To stand behind FROM: columns `place` (the row) and `time` (that of `timestamp`). The same rows each time, whatever is added meanwhile. */
  readonly source: string;
  /** At the most. */
  readonly rows: number;
  release(): void;
}

/** Of an attached index file. */
interface SearchedFile {
  readonly alias: string;
  readonly fields: FieldTable;
  readonly documents: number;
  readonly changes: number;
  readonly times: TimeSpan;
}

class Rows extends KeptItem {
  readonly table: string;
  created = false;
  /** Rows of the file that have been looked at. */
  covered = 0;
  rows = 0;
  tooMany = false;

  constructor(span: Span, table: string) {
    super(span);
    this.table = table;
  }
}

/** Of one instance of the engine, in whose memory the tables are. */
export class KeptRows {
  readonly #items: KeptItems<Rows>;
  /** A condition that more rows match is looked at anew each time. */
  readonly #maxRows: number;
  #next = 1;

  constructor(maxBytes: number) {
    this.#items = new KeptItems(maxBytes);
    this.#maxRows = Math.floor(maxBytes / rowBytes / 2);
  }

  /** Undefined: too many rows match to be kept. */
  async hold(connection: DuckDBConnection, file: SearchedFile, { query, from, to }: Condition): Promise<HeldRows | undefined> {
    const { sql, values } = conditionOf(file, query, false);
    const kept = this.#items.find(JSON.stringify([file.alias, file.changes, sql, values]), { from, to }, (span) => new Rows(span, `memory.main.rows_${this.#next++}`));
    kept.holders += 1;
    const release = (): void => {
      kept.holders -= 1;
    };
    try {
      await this.sweep(connection);
      await kept.fill(async () => {
        await fill(connection, file, kept, { query, sql, values, maxRows: this.#maxRows });
        if (kept.tooMany && kept.holders === 1) await forget(connection, kept);
      });
    } catch (thrown) {
      release();
      throw thrown;
    }
    if (!kept.tooMany) return { source: `(SELECT place, time FROM ${kept.table} WHERE place < ${kept.covered}) AS held`, rows: kept.rows, release };
    release();
    return undefined;
  }

  async sweep(connection: DuckDBConnection): Promise<void> {
    for (const kept of this.#items.sweep()) {
      if (kept.holders > 0) continue;
      await forget(connection, kept);
      this.#items.gone(kept);
    }
  }

  get bytes(): number {
    return this.#items.bytes;
  }
}

/** A search that is cancelled meanwhile leaves it for the next sweep. */
async function forget(connection: DuckDBConnection, kept: Rows): Promise<void> {
  if (!kept.created) return;
  // Two that drop the same table at once are a conflict.
  kept.holders += 1;
  try {
    await connection.run(`DROP TABLE IF EXISTS ${kept.table}`);
  } finally {
    kept.holders -= 1;
  }
  kept.created = false;
  kept.bytes = 0;
}

interface Statement {
  readonly sql: string;
  readonly values: string[];
}

interface Filling extends Statement {
  readonly query: QueryNode;
  readonly maxRows: number;
}

function conditionOf({ fields }: SearchedFile, query: QueryNode, literalsOnly: boolean): Statement {
  const parameters = new SqlParameters();
  return parameters.statement(querySql(query, { fields, parameters, literalsOnly }));
}

/** Looks at the rows that came since. When it rejects, nothing was added. */
async function fill(connection: DuckDBConnection, file: SearchedFile, kept: Rows, { query, sql, values, maxRows }: Filling): Promise<void> {
  const rows = file.documents;
  if (kept.tooMany || kept.covered >= rows) return;
  const time = timeColumn(file.fields);
  const within = [`rowid >= ${kept.covered}`, `rowid < ${rows}`, ...timesSql(time, kept.span)];
  const from = (condition: string): string => `FROM ${file.alias}.documents WHERE ${[...within, condition].join(' AND ')}`;
  if ((rows - kept.covered) * shareWithin(file.times, kept.span) <= fewRows) {
    const literals = conditionOf(file, query, true);
    const none = literals.sql !== sql && (await connection.runAndReadAll(`SELECT 1 ${from(literals.sql)} LIMIT 1`, literals.values)).currentRowCount === 0;
    if (none) kept.covered = rows;
    if (none) return;
  }
  if (!kept.created) await connection.run(`CREATE TABLE IF NOT EXISTS ${kept.table} (place BIGINT, time DOUBLE)`);
  kept.created = true;
  const { rowsChanged } = await connection.run(`INSERT INTO ${kept.table} SELECT rowid, ${time} ${from(sql)} LIMIT ${maxRows + 1}`, values);
  kept.covered = rows;
  kept.rows += rowsChanged;
  kept.bytes = kept.rows * rowBytes;
  kept.tooMany = kept.rows > maxRows;
}
