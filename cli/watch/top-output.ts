/** `sluice top`: rates between two looks, largest first. */
import { formatBytes } from '../../core/bytes.js';
import type { SenderAccount, Top } from '../../pipeline/monitoring/contract.js';
import { escapeControls } from '../search/output.js';

export type TopSubject = 'sender' | 'stream' | 'rule';

interface TopRow {
  readonly name: string;
  readonly per_second: number;
  readonly messages: number;
  readonly bytes_per_second?: number;
  readonly bytes?: number;
  readonly refused?: number;
  readonly shed?: number;
  /** Receive time less the sender's own. */
  readonly clock_skew_ms?: number;
  readonly last_seen?: string;
}

const keyOf = ({ receiver, address }: SenderAccount): string => `${receiver} ${address}`;

export function topRows(before: Top, now: Top, subject: TopSubject): TopRow[] {
  const seconds = Math.max(0.001, (now.at - before.at) / 1000);
  const rate = (count: number, former: number | undefined): number =>
    Math.max(0, Math.round(((count - (former ?? 0)) / seconds) * 10) / 10);
  const rows =
    subject === 'sender'
      ? senderRows(before, now, rate)
      : countRows(
          before[subject === 'stream' ? 'streams' : 'rules'],
          now[subject === 'stream' ? 'streams' : 'rules'],
          rate,
        );
  return rows.sort(
    (one, other) =>
      other.per_second - one.per_second || other.messages - one.messages || (one.name < other.name ? -1 : 1),
  );
}

type Rate = (count: number, former: number | undefined) => number;

function countRows(before: Top['streams'], now: Top['streams'], rate: Rate): TopRow[] {
  return Object.entries(now).map(([name, messages]) => ({ name, per_second: rate(messages, before[name]), messages }));
}

function senderRows(before: Top, now: Top, rate: Rate): TopRow[] {
  const former = new Map(before.senders.map((sender) => [keyOf(sender), sender]));
  return now.senders.map((sender) => {
    const last = former.get(keyOf(sender));
    return {
      name: keyOf(sender),
      per_second: rate(sender.messages, last?.messages),
      messages: sender.messages,
      bytes_per_second: rate(sender.bytes, last?.bytes),
      bytes: sender.bytes,
      refused: sender.refused,
      shed: sender.shed,
      last_seen: new Date(sender.lastSeen).toISOString(),
      ...(sender.clockSkewMs === undefined ? {} : { clock_skew_ms: sender.clockSkewMs }),
    };
  });
}

export function topText(rows: readonly TopRow[], subject: TopSubject, at: number): string {
  const head = `${new Date(at).toISOString()}  ${rows.length === 0 ? `no ${subject} yet` : `by ${subject}`}`;
  const width = Math.max(subject.length, ...rows.map(({ name }) => escapeControls(name).length)) + 2;
  const counts = ['per second', 'messages'];
  const titles = subject === 'sender' ? [...counts, 'bytes/s', 'refused', 'shed', 'clock'] : counts;
  const lines = rows.map((row) => {
    const cells = [String(row.per_second), String(row.messages)];
    if (subject === 'sender')
      cells.push(
        formatBytes(row.bytes_per_second ?? 0),
        String(row.refused ?? 0),
        String(row.shed ?? 0),
        skewText(row.clock_skew_ms),
      );
    return escapeControls(row.name).padEnd(width) + cells.map((cell) => cell.padStart(14)).join('');
  });
  return [head, subject.padEnd(width) + titles.map((title) => title.padStart(14)).join(''), ...lines].join('\n');
}

/** What the network takes is not told from a clock that is a little off. */
const ordinarySkewMs = 2_000;

function skewText(skew: number | undefined): string {
  if (skew === undefined) return '-';
  if (Math.abs(skew) < ordinarySkewMs) return 'right';
  const seconds = Math.round(Math.abs(skew) / 1000);
  const span =
    seconds < 120
      ? `${seconds} s`
      : seconds < 7_200
        ? `${Math.round(seconds / 60)} min`
        : `${Math.round(seconds / 3_600)} h`;
  return `${span} ${skew > 0 ? 'slow' : 'fast'}`;
}
