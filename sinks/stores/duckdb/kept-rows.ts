/**
 * Rows that match a condition. Finding them is nearly all of the work of a search, most of all where long texts are read, and a list comes with its count,
 * its chart, its next page, and the same question again a few seconds later: which rows match is kept for a while, and only rows that came since are looked at.
 */
import type { DuckDBConnection } from '@duckdb/node-api';
import { timeColumn, timesSql, type Condition } from './condition-sql.js';
import type { FieldTable } from './fields.js';
import { querySql } from './query-sql.js';
import { SqlParameters } from './value-sql.js';

/** Nobody asks again after this long. */
const keptMs = 60_000;
const maxKept = 32;
/** Each takes 16 bytes. A condition that more rows match is looked at anew each time. */
const maxRows = 1_000_000;
const maxRowsOfAll = 2_000_000;
/** A range of time that ends this long ago or later is taken to go on, so that "the last hour" is the same question a moment later. */
const goesOnMs = 60_000;

export interface HeldRows {
  /** To stand behind FROM: columns `place` (the row) and `time` (that of `timestamp`). The same rows each time, whatever is added meanwhile. */
  readonly source: string;
  release(): void;
}

/** Of an attached index file. */
interface SearchedFile {
  readonly alias: string;
  readonly fields: FieldTable;
  readonly documents: number;
  readonly changes: number;
}

interface Kept {
  readonly table: string;
  readonly from: number | undefined;
  readonly to: number | undefined;
  created: boolean;
  /** Rows of the file that have been looked at. */
  covered: number;
  rows: number;
  tooMany: boolean;
  holders: number;
  usedAt: number;
  filling: Promise<unknown>;
}

/** Of one instance of the engine, in whose memory the tables are. */
export class KeptRows {
  readonly #kept = new Map<string, Kept>();
  readonly #dropped = new Set<Kept>();
  #next = 1;

  /** Undefined: too many rows match to be kept. */
  async hold(connection: DuckDBConnection, file: SearchedFile, { query, from, to }: Condition): Promise<HeldRows | undefined> {
    const parameters = new SqlParameters();
    const { sql, values } = parameters.statement(querySql(query, { fields: file.fields, parameters }));
    const kept = this.#find(JSON.stringify([file.alias, file.changes, sql, values]), { from, to });
    kept.holders += 1;
    kept.usedAt = performance.now();
    const release = (): void => {
      kept.holders -= 1;
    };
    try {
      await this.sweep(connection);
      const filled = kept.filling.then(() => fill(connection, file, kept, { sql, values }));
      kept.filling = filled.catch(() => undefined);
      await filled;
    } catch (thrown) {
      release();
      throw thrown;
    }
    if (!kept.tooMany) return { source: `(SELECT place, time FROM ${kept.table} WHERE place < ${kept.covered}) AS held`, release };
    release();
    return undefined;
  }

  #find(key: string, { from, to }: Pick<Condition, 'from' | 'to'>): Kept {
    const end = to === undefined || to >= Date.now() - goesOnMs ? undefined : to;
    const known = this.#kept.get(key);
    if (known !== undefined && (known.from ?? -Infinity) <= (from ?? -Infinity) && (known.to ?? Infinity) >= (end ?? Infinity)) {
      this.#kept.delete(key);
      this.#kept.set(key, known);
      return known;
    }
    if (known !== undefined) this.#dropped.add(known);
    const kept: Kept = { table: `memory.main.rows_${this.#next}`, from, to: end, created: false, covered: 0, rows: 0, tooMany: false, holders: 0, usedAt: 0, filling: Promise.resolve() };
    this.#next += 1;
    this.#kept.set(key, kept);
    return kept;
  }

  /** Gives back what nobody has used for long, and the longest unused where there are too many. */
  async sweep(connection: DuckDBConnection): Promise<void> {
    const now = performance.now();
    let rows = [...this.#kept.values()].reduce((sum, kept) => sum + kept.rows, 0);
    for (const [key, kept] of this.#kept) {
      const over = this.#kept.size > maxKept || rows > maxRowsOfAll || now - kept.usedAt > keptMs;
      if (!over || kept.holders > 0) continue;
      this.#kept.delete(key);
      this.#dropped.add(kept);
      rows -= kept.rows;
    }
    for (const kept of this.#dropped) {
      if (kept.holders > 0) continue;
      this.#dropped.delete(kept);
      await connection.run(`DROP TABLE IF EXISTS ${kept.table}`);
    }
  }

  get isEmpty(): boolean {
    return this.#kept.size === 0 && this.#dropped.size === 0;
  }
}

/** Looks at the rows that came since. When it rejects, nothing was added. */
async function fill(connection: DuckDBConnection, file: SearchedFile, kept: Kept, condition: { readonly sql: string; readonly values: string[] }): Promise<void> {
  if (!kept.created) await connection.run(`CREATE TABLE IF NOT EXISTS ${kept.table} (place BIGINT, time DOUBLE)`);
  kept.created = true;
  const rows = file.documents;
  if (kept.covered >= rows || kept.tooMany) return;
  const time = timeColumn(file.fields);
  const where = [`rowid >= ${kept.covered}`, `rowid < ${rows}`, ...timesSql(time, kept), condition.sql].join(' AND ');
  const { rowsChanged } = await connection.run(`INSERT INTO ${kept.table} SELECT rowid, ${time} FROM ${file.alias}.documents WHERE ${where} LIMIT ${maxRows + 1}`, condition.values);
  kept.covered = rows;
  kept.rows += rowsChanged;
  kept.tooMany = kept.rows > maxRows;
}
