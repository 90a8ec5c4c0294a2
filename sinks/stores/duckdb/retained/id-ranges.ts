/**
 * Where in a file an id can be. The engine keeps no order of ids, and what it knows of a stretch of texts are their
 * first 8 bytes, which all ids share; but ids of one partition rise from row to row, so the least and the greatest of
 * each stretch tell nearly always which single one has it.
 */
import type { DuckDBConnection } from '@duckdb/node-api';
import { numberCell, textCell } from '../sql/cells.js';

/** Rows of one stretch. */
const stretchRows = 8_192;
/** Hexadecimal digits at the end of an id that count up; what stands before them is the partition's own. */
const offsetDigits = 10;
/** Looking through smaller files costs less than to know them. */
const leastRows = 100_000;
/** Looks before a file is worth knowing: it takes as long as six of them. */
const fewLooks = 2;
/** Different beginnings of ids in one file; a file with more is looked through each time. */
const maxPrefixes = 64;
/** Limit of one lookup; more ids or stretches are looked for in the whole file. */
const maxIds = 50;
const maxStretches = 8;

interface LookedFile {
  readonly alias: string;
  readonly documents: number;
}

/** By stretch: its least and its greatest id. */
type Stretches = Map<number, { least: string; greatest: string }>;

interface Known {
  looks: number;
  covered: number;
  readonly byPrefix: Map<string, Stretches>;
  tooMany: boolean;
  learning: Promise<unknown>;
}

export class IdRanges {
  readonly #known = new WeakMap<LookedFile, Known>();

  /**
   * Ranges of rows, `from` inclusive, in one of which each of these ids is if it is in the file; undefined: anywhere.
   */
  async find(
    connection: DuckDBConnection,
    file: LookedFile,
    ids: readonly string[],
  ): Promise<readonly (readonly [from: number, to: number])[] | undefined> {
    if (file.documents < leastRows || ids.length > maxIds) return undefined;
    const known = this.#known.get(file) ?? {
      looks: 0,
      covered: 0,
      byPrefix: new Map(),
      tooMany: false,
      learning: Promise.resolve(),
    };
    this.#known.set(file, known);
    known.looks += 1;
    if (known.looks <= fewLooks || known.tooMany) return undefined;
    const learnt = known.learning.then(() => learn(connection, file, known));
    known.learning = learnt.catch(() => undefined);
    await learnt;
    if (known.tooMany) return undefined;
    const stretches = new Set(ids.flatMap((id) => stretchesOf(known, id)));
    if (stretches.size > maxStretches) return undefined;
    return [
      ...[...stretches].map(
        (stretch) => [stretch * stretchRows, Math.min((stretch + 1) * stretchRows, known.covered)] as const,
      ),
      ...(known.covered < file.documents ? [[known.covered, file.documents] as const] : []),
    ];
  }
}

function prefixOf(id: string): string {
  return id.slice(0, -offsetDigits);
}

function stretchesOf({ byPrefix }: Known, id: string): number[] {
  return [...(byPrefix.get(prefixOf(id)) ?? [])].flatMap(([stretch, { least, greatest }]) =>
    id >= least && id <= greatest ? [stretch] : [],
  );
}

async function learn(connection: DuckDBConnection, file: LookedFile, known: Known): Promise<void> {
  const rows = file.documents;
  if (rows <= known.covered || known.tooMany) return;
  const most = maxPrefixes * (Math.ceil((rows - known.covered) / stretchRows) + 1);
  const sql = `SELECT (rowid // ${stretchRows})::DOUBLE, left(_id, -${offsetDigits}) AS prefix, min(_id), max(_id) FROM ${file.alias}.documents WHERE rowid >= ${known.covered} AND rowid < ${rows} GROUP BY 1, 2 LIMIT ${most + 1}`;
  const found = (await connection.runAndReadAll(sql)).getRows();
  known.tooMany =
    found.length > most || new Set([...known.byPrefix.keys(), ...found.map((row) => row[1])]).size > maxPrefixes;
  if (known.tooMany) return known.byPrefix.clear();
  for (const row of found) {
    const stretch = numberCell(row[0]);
    const [prefix, least, greatest] = [textCell(row[1]), textCell(row[2]), textCell(row[3])];
    const stretches = known.byPrefix.get(prefix) ?? new Map<number, { least: string; greatest: string }>();
    known.byPrefix.set(prefix, stretches);
    const at = stretches.get(stretch);
    stretches.set(
      stretch,
      at === undefined
        ? { least, greatest }
        : { least: least < at.least ? least : at.least, greatest: greatest > at.greatest ? greatest : at.greatest },
    );
  }
  known.covered = rows;
}
