/** Dead letters for a terminal: whatever a sender wrote is shown with its control characters escaped. */
import type { PlanReport, DropReport, ReplayReport } from '../../pipeline/dead-letters/contract.js';
import type { SearchHit } from '../../schemas/query.js';
import { escapeControls } from '../search/output.js';

/** Longer reasons are cut in a list; `show` has them whole. */
const shownReason = 160;

function text(document: SearchHit['document'], field: string): string {
  const value = document[field];
  if (value === undefined || value === null || value === '') return '-';
  return escapeControls(typeof value === 'string' ? value : JSON.stringify(value));
}

/** time id code receiver peer index_set reason replays */
export function deadLetterLine({ _id, document }: SearchHit, color: boolean): string {
  const reason = text(document, 'message');
  const code = text(document, 'code');
  const state = document['state'] === undefined || document['state'] === 'open' ? '' : ` ${text(document, 'state')}`;
  return [
    text(document, 'timestamp'),
    escapeControls(_id),
    color ? `\u001b[31m${code}\u001b[0m` : code,
    text(document, 'receiver'),
    text(document, 'peer'),
    text(document, 'index_set'),
    reason.length > shownReason ? `${reason.slice(0, shownReason)}…` : reason,
    `replays=${Number(document['replays'] ?? 0)}${state}`,
  ].join('  ');
}

const details: readonly (readonly [field: string, title: string])[] = [
  ['code', 'code'],
  ['message', 'reason'],
  ['timestamp', 'received'],
  ['receiver', 'receiver'],
  ['peer', 'peer'],
  ['index_set', 'refused by'],
  ['index', 'index'],
  ['origin', 'origin'],
  ['replays', 'failed replays'],
  ['target_epoch', 'replayed to epoch'],
  ['replay_started_at', 'replay started'],
  ['replayed_at', 'replayed'],
  ['dropped_by', 'dropped by'],
  ['dropped_at', 'dropped'],
  ['raw_length', 'bytes'],
  ['raw_sha256', 'SHA-256'],
];

export function deadLetterText({ _id, _index, document }: SearchHit): string {
  const lines = [
    ['id', escapeControls(_id)],
    ['kept in', escapeControls(_index)],
    ['state', text({ state: 'open', ...document }, 'state')],
  ];
  for (const [field, title] of details) if (document[field] !== undefined) lines.push([title, text(document, field)]);
  const base64 = document['raw_base64'];
  const { raw: kept = '' } = document as { readonly raw?: string };
  const raw = typeof base64 === 'string' ? base64 : kept;
  const cut = typeof base64 === 'string' ? Buffer.from(base64, 'base64').length : Buffer.byteLength(raw);
  const title = `raw${typeof base64 === 'string' ? ' (base64)' : ''}${cut === document['raw_length'] ? '' : `, the first ${cut} bytes`}`;
  return `${lines.map(([name = '', value = '']) => `${name.padEnd(18)} ${value}`).join('\n')}\n\n${title}:\n${escapeControls(raw)}`;
}

const plural = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString('en-US')} ${count === 1 ? one : many}`;

/** `3 replayed, 1 failed again`; what did not happen is left out. */
function parts(entries: readonly (readonly [count: number, words: string])[]): string {
  return (
    entries
      .filter(([count]) => count > 0)
      .map(([count, words]) => `${count.toLocaleString('en-US')} ${words}`)
      .join(', ') || 'nothing to do'
  );
}

function begin({
  done,
  total,
  cancelled,
}: {
  readonly done: number;
  readonly total: number;
  readonly cancelled: boolean;
}): string {
  return cancelled
    ? `Interrupted after ${done.toLocaleString('en-US')} of ${plural(total, 'dead letter')}`
    : plural(done, 'dead letter');
}

const rest = (cancelled: boolean): string => (cancelled ? ' The rest is untouched.' : '');

export function replayText(report: ReplayReport): string {
  const { replayed, failed, left, elsewhere, skipped, gone, cancelled } = report;
  const outcome = parts([
    [replayed, 'replayed'],
    [failed, 'failed again'],
    [left, 'without an answer of the index (replay again to go on)'],
    [elsewhere, 'in the hands of another replay'],
    [skipped, 'replayed or dropped before'],
    [gone, 'gone'],
  ]);
  return `${begin(report)}: ${outcome}.${rest(cancelled)}`;
}

export function planText(report: PlanReport): string {
  const to = Object.entries(report.index_sets)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([indexSet, count]) => `${count.toLocaleString('en-US')} to ${indexSet}`);
  const fail = Object.entries(report.fail).map(
    ([code, count]) => `${count.toLocaleString('en-US')} would fail again (${code})`,
  );
  const outcome = [
    ...to,
    ...fail,
    ...(report.dropped_by_rules > 0 ? [`${report.dropped_by_rules} dropped by a rule`] : []),
    ...(report.skipped > 0 ? [`${report.skipped} replayed or dropped before`] : []),
  ];
  return `${begin(report)}: ${escapeControls(outcome.join(', ') || 'nothing to do')}. Nothing was changed.`;
}

export function dropPlanText({ done, total, skipped }: PlanReport): string {
  return `${plural(done - skipped, 'dead letter')} of ${total.toLocaleString('en-US')} would be dropped. Nothing was changed.`;
}

export function dropText(report: DropReport): string {
  return `${begin(report)}: ${parts([
    [report.dropped, 'dropped'],
    [report.skipped, 'not open (replayed, dropped before, or a replay has begun)'],
  ])}.${rest(report.cancelled)}`;
}
