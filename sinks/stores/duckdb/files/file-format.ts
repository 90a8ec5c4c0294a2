/**
 * The version of an index file: judged when the file is opened, and brought up to date, each step in one transaction.
 */
import type { DuckDBConnection } from '@duckdb/node-api';
import { currentVersion, formatVersions } from '../../../../core/formats/versions.js';
import { judgeStamp } from '../../../../core/formats/stamp.js';
import { numberCell, textCell } from '../sql/cells.js';

const format = formatVersions.indexFile;

/** By the version that the step starts from; the new version is written in its transaction. */
const steps: Readonly<Record<number, (connection: DuckDBConnection, alias: string) => Promise<void>>> = {};

/** Throws FORMAT_NEWER or FORMAT_TOO_OLD. */
export async function bringFileUpToDate(connection: DuckDBConnection, alias: string, path: string): Promise<void> {
  const rows = (
    await connection.runAndReadAll(`SELECT value, name FROM ${alias}.meta WHERE name IN ('format', 'minimum_reader')`)
  ).getRows();
  const meta = new Map(rows.map(([value, name]) => [textCell(name), numberCell(value)]));
  const found = meta.get('format') ?? 0;
  const verdict = judgeStamp(
    format,
    { format: found, minimum_reader: meta.get('minimum_reader') ?? found, written_by: '' },
    path,
  );
  if (verdict.kind === 'refused') throw verdict.error;
  if (verdict.kind === 'fine') return;
  for (let version = verdict.from; version < currentVersion(format); version += 1) {
    await connection.run('BEGIN');
    await steps[version]?.(connection, alias);
    await connection.run(`DELETE FROM ${alias}.meta WHERE name = 'format'`);
    await connection.run(`INSERT INTO ${alias}.meta VALUES ('format', ${version + 1})`);
    await connection.run('COMMIT');
  }
}
