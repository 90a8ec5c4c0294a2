/** `sluice search '<query>'`: asks the running program and prints what it finds. */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseQuery } from '../search/parser.js';
import { isQueryProblem, pointAt, problemText } from '../search/problem.js';
import { and } from '../search/tree.js';
import { printQuery } from '../search/print.js';
import { parseTimeRange } from '../search/time-range.js';
import type { QueryNode, SearchHit, SearchResult } from '../schemas/query.js';
import { hitLine, type LineOptions } from './search-output.js';

export interface SearchOptions {
  readonly query: string;
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

/** The control socket of the running program. */
export interface SearchConnection {
  request(method: string, path: string, body?: unknown): Promise<unknown>;
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
  /** Pause between two polls of `--follow`, milliseconds. */
  readonly pollMs: number;
}

/** Documents asked for at once; the program answers at most 10,000. */
const pageSize = 1000;
/** Of `--follow`: each request costs the store a look at all that is new, so few and large ones. */
const followPageSize = 5000;
/** `--follow` asks again for this much time, since documents become searchable in another order than they were received. */
const followOverlapMs = 15_000;
/** The same while there is more than a page of it: what comes late by more than this is then left out. */
const busyOverlapMs = 3000;
/** Ids remembered to leave out what was printed; beyond it a document may be printed twice. */
const maxRemembered = 100_000;
/** Pages of one poll; a stream faster than that is followed without the overlap. */
const maxPagesPerPoll = 20;

/** Resolves with the exit code: 0 also without a hit, 2 for a query or time range that cannot be read. Rejects when the program does not answer. */
export async function runSearch(options: SearchOptions, connection: SearchConnection, terminal: SearchTerminal): Promise<0 | 2> {
  const now = terminal.now();
  const node = parseQuery(options.query, { now });
  if (isQueryProblem(node)) {
    terminal.note(`${pointAt(options.query, node)}\n${problemText(node)}`);
    return 2;
  }
  const open = options.from === undefined && options.to === undefined;
  const range = parseTimeRange({ last: options.last ?? (open ? '15m' : undefined), from: options.from, to: options.to }, now);
  const fields = options.fields?.split(',').map((name) => name.trim()).filter((name) => name !== '');
  const search: Search = {
    connection, terminal, node, line: { json: options.json === true, fields, color: terminal.color },
    body: { query: options.query, ...(fields === undefined ? {} : { fields: [...new Set([...fields, 'timestamp', 'receive_time'])] }), ...(options.indexSet === undefined ? {} : { index_sets: options.indexSet.split(',') }) },
  };
  if (options.follow === true) await follow(search, range, options.limit ?? 10);
  else await list(search, range, options.limit ?? 100, options.quiet === true);
  return 0;
}

interface Search {
  readonly node: QueryNode;
  readonly connection: SearchConnection;
  readonly terminal: SearchTerminal;
  readonly line: LineOptions;
  readonly body: Readonly<Record<string, unknown>>;
}
interface Range {
  readonly from: number | undefined;
  readonly to: number | undefined;
}

async function ask(search: Search, more: Readonly<Record<string, unknown>>): Promise<SearchResult> {
  return (await search.connection.request('POST', '/search', { ...search.body, ...more })) as SearchResult;
}

/** Newest first, page by page. */
async function list(search: Search, range: Range, limit: number, quiet: boolean): Promise<void> {
  const { terminal } = search;
  let printed = 0;
  let total = 0;
  let skipped: readonly string[] = [];
  let after: SearchAfter | undefined;
  for (;;) {
    const wanted = Math.min(pageSize, limit - printed);
    const result = await ask(search, { ...range, limit: wanted, sort: { field: 'timestamp', direction: 'desc' }, ...(after === undefined ? {} : { after }) });
    if (after === undefined) ({ total, skipped } = result);
    for (const hit of result.hits) terminal.print(hitLine(hit, search.line));
    printed += result.hits.length;
    after = afterHit(result.hits.at(-1), 'timestamp');
    if (result.hits.length < wanted || printed >= limit || after === undefined || terminal.signal.aborted) break;
  }
  if (quiet) return;
  if (total === 0 && printed === 0) terminal.note('No message matches.');
  else terminal.note(printed < total ? `${printed} of ${total} messages; --limit shows more.` : `${printed} ${printed === 1 ? 'message' : 'messages'}.`);
  if (skipped.length > 0) terminal.note(`Not searched, since closed or gone: ${skipped.join(', ')}.`);
}

type SearchAfter = { readonly sortValue: string | number; readonly id: string };

function afterHit(hit: SearchHit | undefined, field: string): SearchAfter | undefined {
  const value = hit?.document[field];
  return hit !== undefined && (typeof value === 'string' || typeof value === 'number') ? { sortValue: value, id: hit._id } : undefined;
}

/** The newest ones, oldest first, then what becomes searchable, until the signal. */
async function follow(search: Search, range: Range, limit: number): Promise<void> {
  const { terminal } = search;
  const remembered = new Set<string>();
  let newest = terminal.now() - busyOverlapMs;
  // What is older than the newest one shown at the start was left out by the limit.
  let oldest = -Infinity;
  let overlapMs = busyOverlapMs;
  const take = (hit: SearchHit): void => {
    const key = `${hit._index}/${hit._id}`;
    const received = Date.parse(String(hit.document['receive_time']));
    if (received < oldest || remembered.has(key)) return;
    remembered.add(key);
    if (received > newest) newest = received;
    terminal.print(hitLine(hit, search.line));
  };
  const recent = await ask(search, { ...range, limit: Math.min(limit, pageSize), sort: { field: 'timestamp', direction: 'desc' } });
  for (const hit of [...recent.hits].reverse()) take(hit);
  oldest = newest;
  while (!terminal.signal.aborted) {
    overlapMs = (await poll(search, { sortValue: newest - overlapMs, id: '' }, take)) > 1 ? busyOverlapMs : followOverlapMs;
    forgetOldest(remembered);
    await sleep(terminal.pollMs, undefined, { signal: terminal.signal }).catch(() => undefined);
  }
}

/** Returns how many pages there were. */
async function poll(search: Search, start: SearchAfter, take: (hit: SearchHit) => void): Promise<number> {
  let after: SearchAfter | undefined = start;
  let page = 0;
  for (; page < maxPagesPerPoll && after !== undefined && !search.terminal.signal.aborted; page += 1) {
    const result: SearchResult = await ask(search, { query: newerThan(search.node, after), limit: followPageSize, sort: { field: 'receive_time', direction: 'asc' }, after });
    for (const hit of result.hits) take(hit);
    after = result.hits.length < followPageSize ? undefined : afterHit(result.hits.at(-1), 'receive_time');
  }
  return page;
}

/** The bound spares the store a look at everything that is older. */
function newerThan(node: QueryNode, after: SearchAfter): string {
  const from = typeof after.sortValue === 'number' ? after.sortValue : Date.parse(after.sortValue);
  return printQuery(and([{ kind: 'range', field: 'receive_time', from: { value: from, inclusive: true }, to: undefined }, node]));
}

function forgetOldest(remembered: Set<string>): void {
  for (const key of remembered) {
    if (remembered.size <= maxRemembered) return;
    remembered.delete(key);
  }
}
