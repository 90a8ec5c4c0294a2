/** One attached index file: its tables, what is known of its fields, and its markers. */
import {
  BOOLEAN,
  DOUBLE,
  INTEGER,
  VARCHAR,
  type DuckDBAppender,
  type DuckDBConnection,
  type DuckDBType,
} from '@duckdb/node-api';
import { baseFieldTable, FieldCounts, type Cell } from '../write/batch.js';
import { currentVersion, formatVersions } from '../../../../core/formats/versions.js';
import { appendChunks } from '../write/chunks.js';
import { bringFileUpToDate } from './file-format.js';
import { columnDefinition, type Field, type FieldKind, type FieldTable } from './fields.js';
import type { Database } from './database.js';
import { timeColumn } from '../sql/condition-sql.js';
import { noTimes, widened, type TimeSpan } from './time-span.js';
import { loadSegments, type WordSegment } from '../words/segments.js';
import { numberCell, textCell } from '../sql/cells.js';

const formatVersion = currentVersion(formatVersions.indexFile);

export class IndexFile {
  readonly alias: string;
  readonly connection: DuckDBConnection;
  readonly fields: FieldTable;
  readonly markers: Map<string, number>;
  readonly counts = new FieldCounts();
  readonly createdAt: number;
  documents: number;
  /** When it was attached. */
  readonly documentsBefore: number;
  /** Rises with each change to rows that were there. */
  changes = 0;
  times: TimeSpan;
  /** Rows whose words are in the table of words, by first row. */
  words: readonly WordSegment[];
  readonly #database: Database;
  /**
   * Retained from one transaction to the next: its memory is the engine's, and given back only when its JavaScript
   * object is collected.
   */
  #appender: { readonly appender: DuckDBAppender; readonly columns: number } | undefined;

  private constructor(database: Database, alias: string, connection: DuckDBConnection, loaded: LoadedIndex) {
    this.#database = database;
    this.alias = alias;
    this.connection = connection;
    this.fields = loaded.fields;
    this.markers = loaded.markers;
    this.documents = loaded.documents;
    this.documentsBefore = loaded.documents;
    this.createdAt = loaded.createdAt;
    this.times = loaded.times;
    this.words = loaded.words;
  }

  /** Opens the file; one without tables (new, or a crash cut its creation short) gets them. */
  static async attach(database: Database, path: string): Promise<IndexFile> {
    const alias = await database.attach(path);
    try {
      const connection = await database.connect();
      try {
        if (!(await hasTables(connection, alias))) await createTables(connection, alias);
        await bringFileUpToDate(connection, alias, path);
        return new IndexFile(database, alias, connection, await load(connection, alias));
      } catch (thrown) {
        connection.closeSync();
        throw thrown;
      }
    } catch (thrown) {
      await database.detach(alias).catch(() => undefined);
      throw thrown;
    }
  }

  /** Nothing may use the file any more. Folds the write-ahead log into the file when the disk allows. */
  async detach(): Promise<void> {
    this.#closeAppender();
    this.connection.closeSync();
    await this.#database.detach(this.alias);
  }

  /**
   * Appends to the table `documents` in the connection's transaction. When it throws, the file must be attached anew.
   */
  async appendDocuments(types: readonly DuckDBType[], columns: readonly Cell[][]): Promise<void> {
    if (this.#appender?.columns !== types.length) {
      this.#closeAppender();
      this.#appender = {
        appender: await this.connection.createAppender('documents', 'main', this.alias),
        columns: types.length,
      };
    }
    appendChunks(this.#appender.appender, types, columns);
    this.#appender.appender.flushSync();
  }

  /**
   * `cells`: by slot. Before they are committed: a span that is too wide costs a look at the file, one that is too
   * narrow would hide rows.
   */
  noteTimes(cells: readonly (readonly Cell[])[]): void {
    this.times = widened(this.times, cells[this.fields.get('timestamp')?.slot ?? 0] ?? []);
  }

  #closeAppender(): void {
    const kept = this.#appender?.appender;
    this.#appender = undefined;
    try {
      kept?.closeSync();
    } catch {
      // What it could not append was refused already.
    }
  }

  /** Columns of the table `documents` after the first three, by slot. */
  columns(): Field[] {
    return columnsOf(this.fields);
  }
}

export function columnsOf(fields: FieldTable): Field[] {
  return [...fields.values()].filter((field) => field.slot !== undefined).sort((a, b) => (a.slot ?? 0) - (b.slot ?? 0));
}

export function markerKey(topic: string, generation: number, partition: number): string {
  return `${partition} ${generation} ${topic}`;
}

interface LoadedIndex {
  readonly fields: FieldTable;
  readonly markers: Map<string, number>;
  readonly documents: number;
  readonly createdAt: number;
  readonly times: TimeSpan;
  readonly words: readonly WordSegment[];
}

async function hasTables(connection: DuckDBConnection, alias: string): Promise<boolean> {
  const rows = await connection.runAndReadAll(
    `SELECT 1 FROM duckdb_tables() WHERE database_name = '${alias}' AND table_name = 'meta'`,
  );
  return rows.currentRowCount > 0;
}

async function createTables(connection: DuckDBConnection, alias: string): Promise<void> {
  const base = [...baseFieldTable().values()];
  const columns = base.map((field) => columnDefinition(field.slot ?? 0, field.kind)).join(', ');
  await connection.run('BEGIN');
  await connection.run(`CREATE TABLE ${alias}.meta (name VARCHAR, value DOUBLE)`);
  await connection.run(`INSERT INTO ${alias}.meta VALUES ('format', ${formatVersion}), ('created_at', ${Date.now()})`);
  await connection.run(
    `CREATE TABLE ${alias}.markers (topic VARCHAR, generation DOUBLE, partition_number INTEGER, next_offset DOUBLE)`,
  );
  await connection.run(`CREATE TABLE ${alias}.fields (name VARCHAR, kind VARCHAR, slot INTEGER, spills BOOLEAN)`);
  await connection.run(
    `CREATE TABLE ${alias}.documents (_id VARCHAR, other_fields VARCHAR USING COMPRESSION zstd, overrides VARCHAR, ${columns})`,
  );
  await appendFields(connection, alias, base);
  await connection.run('COMMIT');
}

async function load(connection: DuckDBConnection, alias: string): Promise<LoadedIndex> {
  const read = async (sql: string) => (await connection.runAndReadAll(sql)).getRows();
  const meta = new Map(
    (await read(`SELECT name, value FROM ${alias}.meta`)).map(([name, value]) => [textCell(name), numberCell(value)]),
  );
  const fields: FieldTable = new Map();
  for (const row of await read(`SELECT name, kind, slot, spills FROM ${alias}.fields ORDER BY rowid`)) {
    const [name, kind, slot, spills] = row as [string, FieldKind, number | null, boolean];
    fields.set(name, { name, kind, slot: slot ?? undefined, spills });
  }
  const markers = new Map<string, number>();
  for (const [topic, generation, partition, next] of await read(
    `SELECT topic, generation, partition_number, next_offset FROM ${alias}.markers`,
  ))
    markers.set(markerKey(textCell(topic), numberCell(generation), numberCell(partition)), numberCell(next));
  const time = timeColumn(fields);
  const [counted = []] = await read(`SELECT count(*)::DOUBLE, min(${time}), max(${time}) FROM ${alias}.documents`);
  return {
    fields,
    markers,
    documents: Number(counted[0] ?? 0),
    createdAt: meta.get('created_at') ?? 0,
    times: widened(noTimes, counted.slice(1)),
    words: await loadSegments(connection, alias),
  };
}

/** The table of fields is a log: the last row of a name counts. Appends in the connection's transaction. */
export async function appendFields(
  connection: DuckDBConnection,
  alias: string,
  fields: readonly Field[],
): Promise<void> {
  const columns: Cell[][] = [
    fields.map((field) => field.name),
    fields.map((field) => field.kind),
    fields.map((field) => field.slot ?? null),
    fields.map((field) => field.spills),
  ];
  const appender = await connection.createAppender('fields', 'main', alias);
  try {
    appendChunks(appender, [VARCHAR, VARCHAR, INTEGER, BOOLEAN], columns);
  } finally {
    appender.closeSync();
  }
}

export function columnType(kind: FieldKind): DuckDBType {
  return kind === 'number' || kind === 'time' ? DOUBLE : kind === 'boolean' ? BOOLEAN : VARCHAR;
}
