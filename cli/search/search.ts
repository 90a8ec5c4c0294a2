/** `sluice search '<query>'`: asks the running program and prints what it finds. */
import { parseQuery, type QueryOptions } from '../../search/language/parser.js';
import { isQueryProblem, pointAt, problemText } from '../../search/language/problem.js';
import { parseTimeRange } from '../../search/language/time-range.js';
import type { ControlClient } from '../../api/control/client.js';
import type { SearchAnswer, TailLine } from '../../api/control/search.js';
import type { SearchHit } from '../../schemas/query.js';
import { namesOf } from '../names.js';
import { escapeControls, hitLine, type LineOptions } from './output.js';

export interface SearchOptions {
  readonly query: string;
  /** Of the settings. */
  readonly allowed?: QueryOptions | undefined;
  /** Default `15m`, unless `from` or `to` is given. */
  readonly last?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly limit?: number | undefined;
  /** Names joined by commas. */
  readonly fields?: string | undefined;
  /** Ids joined by commas; default: all but the dead letters. */
  readonly indexSet?: string | undefined;
  readonly json?: boolean | undefined;
  readonly follow?: boolean | undefined;
  readonly quiet?: boolean | undefined;
}

export interface SearchTerminal {
  /** A line of the result. */
  print(line: string): void;
  /** A line about the result. */
  note(line: string): void;
  readonly color: boolean;
  readonly now: () => number;
  /** Ends `--follow`, and a search between two pages. */
  readonly signal: AbortSignal;
}

/** Documents asked for at once; the program answers at most 10,000. */
const pageSize = 1000;
const newestFirst = { field: 'timestamp', direction: 'desc' } as const;

/**
 * Resolves with the exit code: 0 also without a hit, 2 for a query or time range that cannot be read. Rejects when the
 * program does not answer.
 */
export async function runSearch(
  options: SearchOptions,
  connection: ControlClient,
  terminal: SearchTerminal,
): Promise<0 | 2> {
  const now = terminal.now();
  const node = parseQuery(options.query, { ...options.allowed, now });
  if (isQueryProblem(node)) {
    terminal.note(`${pointAt(options.query, node)}\n${problemText(node)}`);
    return 2;
  }
  const open = options.from === undefined && options.to === undefined;
  const asked = { last: options.last ?? (open ? '15m' : undefined), from: options.from, to: options.to };
  const range = parseTimeRange(asked, now);
  const fields = namesOf(options.fields);
  const indexSets = namesOf(options.indexSet);
  const search: Search = {
    connection,
    terminal,
    line: { json: options.json === true, fields, color: terminal.color },
    body: {
      query: options.query,
      ...(fields === undefined ? {} : { fields: [...new Set([...fields, 'timestamp', 'receive_time'])] }),
      ...(indexSets === undefined ? {} : { index_sets: indexSets }),
    },
  };
  if (options.follow === true) await follow(search, () => parseTimeRange(asked, terminal.now()), options.limit ?? 10);
  else await list(search, range, options.limit ?? 100, options.quiet === true);
  return 0;
}

interface Search {
  readonly connection: ControlClient;
  readonly terminal: SearchTerminal;
  readonly line: LineOptions;
  readonly body: Readonly<Record<string, unknown>>;
}
interface Range {
  readonly from: number | undefined;
  readonly to: number | undefined;
}

async function ask(search: Search, more: Readonly<Record<string, unknown>>): Promise<SearchAnswer> {
  return (await search.connection.request('POST', '/search', { ...search.body, ...more })) as SearchAnswer;
}

/** Newest first, page by page. */
async function list(search: Search, range: Range, limit: number, quiet: boolean): Promise<void> {
  const { terminal } = search;
  let printed = 0;
  let total = 0;
  let failures: SearchAnswer['failures'] = [];
  let after: string | undefined;
  for (;;) {
    const wanted = Math.min(pageSize, limit - printed);
    const result = await ask(search, {
      ...range,
      limit: wanted,
      sort: newestFirst,
      ...(after === undefined ? {} : { after }),
    });
    if (after === undefined) ({ total, failures } = result);
    for (const hit of result.hits) terminal.print(hitLine(hit, search.line));
    printed += result.hits.length;
    after = result.next;
    if (result.hits.length < wanted || printed >= limit || after === undefined || terminal.signal.aborted) break;
  }
  if (quiet) return;
  if (total === 0 && printed === 0) terminal.note('No message matches.');
  else
    terminal.note(
      printed < total
        ? `${printed} of ${total} messages; --limit shows more.`
        : `${printed} ${printed === 1 ? 'message' : 'messages'}.`,
    );
  for (const { index, reason } of failures) terminal.note(escapeControls(`Not searched: ${index}, since ${reason}.`));
}

/** The newest ones, oldest first, then what becomes searchable, until the signal. */
async function follow(search: Search, range: () => Range, limit: number): Promise<void> {
  const { terminal, connection } = search;
  const shown = new Set<string>();
  const take = (hit: SearchHit): void => {
    if (!shown.has(hit._id)) terminal.print(hitLine(hit, search.line));
  };
  await connection.stream(
    '/tail',
    search.body,
    async (value) => {
      const line = value as TailLine;
      if ('hits' in line) {
        for (const hit of line.hits) take(hit);
        return;
      }
      // The tail has begun, and everything that came before it is asked for: what it gives again is left out there.
      const recent = await ask(search, { ...range(), limit: Math.min(limit, pageSize), sort: newestFirst });
      for (const hit of [...recent.hits].reverse()) {
        take(hit);
        shown.add(hit._id);
      }
    },
    terminal.signal,
  );
}
