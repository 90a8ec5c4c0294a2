/** `sluice status` for people. */
import { formatBytes } from '../../core/bytes.js';
import type { Problem } from '../../core/recent-problems.js';
import type { OutputStatus } from '../../pipeline/forwarding/contract.js';
import type { ParkedSet } from '../../pipeline/parking/contract.js';
import type { Counts } from '../../pipeline/monitoring/contract.js';
import type { RotationSettings } from '../../schemas/index-sets.js';
import { parkingText } from '../index-sets/parking.js';
import { escapeControls } from '../search/output.js';

interface IndexAnswer {
  readonly name: string;
  readonly documents: number;
  readonly bytes: number;
  readonly open: boolean;
  readonly createdAt: number;
}

interface StatusAnswer {
  readonly pid: number;
  readonly at: number;
  readonly workers?: readonly { readonly worker: number; readonly ready: boolean }[];
  readonly receivers: readonly {
    readonly name: string;
    readonly host: string;
    readonly port: number;
    readonly tls: boolean;
  }[];
  readonly counts: Counts;
  readonly oldest_unprocessed_seconds: number;
  readonly lag?: number;
  readonly rule_set_version?: string;
  readonly epoch?: { readonly number: number; readonly indices: Readonly<Record<string, string>> };
  readonly index_sets: readonly {
    readonly id: string;
    readonly rotation: RotationSettings;
    readonly indices: readonly IndexAnswer[];
  }[];
  readonly parking?: readonly ParkedSet[];
  readonly outputs?: readonly OutputStatus[];
  readonly problems?: readonly Problem[];
  readonly ready: {
    readonly ok: boolean;
    readonly checks: readonly { readonly name: string; readonly ok: boolean; readonly reason: string }[];
  };
}

const shownProblems = 5;

/** With an earlier answer, rates between the two. */
export function statusText(answer: unknown, earlier?: unknown): string {
  const status = answer as StatusAnswer;
  const sections = [
    headLines(status, earlier as StatusAnswer | undefined),
    indexSetLines(status),
    outputLines(status.outputs ?? []),
    parkedLines(status.parking ?? []),
    problemLines(status.problems ?? []),
  ];
  return `${sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`;
}

function headLines(status: StatusAnswer, earlier: StatusAnswer | undefined): string[] {
  const ready = (status.workers ?? []).filter((worker) => worker.ready).length;
  const workers = status.workers === undefined ? '' : `, ${ready} of ${status.workers.length} workers`;
  const lines = [`process ${status.pid}${workers}, ${status.ready.ok ? 'ready' : 'not ready'}`];
  for (const check of status.ready.checks)
    if (!check.ok) lines.push(`  cannot ${check.name}: ${escapeControls(check.reason)}`);
  for (const { name, host, port, tls } of status.receivers)
    lines.push(`  receiver ${name} on ${host}:${port}${tls ? ' (TLS)' : ''}`);
  const { received, refused, shed, stored, dead_lettered: letters } = status.counts;
  lines.push(`  in ${rateText(status, earlier, 'received')}${received} messages; ${refused} refused, ${shed} shed`);
  if (status.lag !== undefined)
    lines.push(`  stored ${rateText(status, earlier, 'stored')}${stored} documents; ${letters} dead-lettered`);
  if (status.lag !== undefined)
    lines.push(
      `  ${status.lag} accepted messages wait to be stored${status.oldest_unprocessed_seconds >= 1 ? `, the oldest for ${Math.round(status.oldest_unprocessed_seconds)} s` : ''}`,
    );
  if (status.epoch !== undefined)
    lines.push(`  rule set ${status.rule_set_version ?? '?'}, epoch ${status.epoch.number}`);
  return lines;
}

function rateText(status: StatusAnswer, earlier: StatusAnswer | undefined, count: 'received' | 'stored'): string {
  if (earlier === undefined) return '';
  const seconds = Math.max(0.001, (status.at - earlier.at) / 1000);
  return `${Math.max(0, Math.round((status.counts[count] - earlier.counts[count]) / seconds))}/s, in all `;
}

function indexSetLines({ index_sets: sets, epoch, at }: StatusAnswer): string[] {
  if (sets.length === 0) return [];
  const lines = [
    `${'index set'.padEnd(30)}${'writes to'.padEnd(34)}${'indices'.padStart(8)}${'documents'.padStart(14)}${'size'.padStart(12)}  next rotation`,
  ];
  for (const { id, rotation, indices } of sets) {
    const current = epoch?.indices[id];
    const documents = indices.reduce((sum, index) => sum + index.documents, 0);
    const bytes = indices.reduce((sum, index) => sum + index.bytes, 0);
    const next = rotationText(
      rotation,
      indices.find(({ name }) => name === current),
      at,
    );
    lines.push(
      `${id.padEnd(30)}${(current ?? '-').padEnd(34)}${String(indices.length).padStart(8)}${String(documents).padStart(14)}${formatBytes(bytes).padStart(12)}  ${next}`,
    );
  }
  return lines;
}

function rotationText(rotation: RotationSettings, current: IndexAnswer | undefined, at: number): string {
  const share = (part: number, whole: number): string => `${Math.floor((part / whole) * 100)} %`;
  switch (rotation.type) {
    case 'size':
      return `${share(current?.bytes ?? 0, rotation.max_bytes)} of ${formatBytes(rotation.max_bytes)}`;
    case 'count':
      return `${share(current?.documents ?? 0, rotation.max_documents)} of ${rotation.max_documents} documents`;
    case 'time':
      return `${share(Math.min(at - (current?.createdAt ?? at), rotation.period_ms), rotation.period_ms)} of ${Math.round(rotation.period_ms / 360_000) / 10} h`;
  }
}

function outputLines(outputs: readonly OutputStatus[]): string[] {
  if (outputs.length === 0) return [];
  const width = Math.max(6, ...outputs.map(({ id }) => id.length)) + 2;
  return [
    `${'output'.padEnd(width)}${'state'.padEnd(14)}${['waiting', 'sent', 'failed', 'dropped'].map((title) => title.padStart(11)).join('')}  last error`,
    ...outputs.map((output) => {
      const counts = [output.lag, output.sent, output.failed, output.dropped]
        .map((count) => String(count).padStart(11))
        .join('');
      return `${output.id.padEnd(width)}${output.state.padEnd(14)}${counts}  ${escapeControls(output.lastError ?? '-')}`;
    }),
  ];
}

function parkedLines(parking: readonly ParkedSet[]): string[] {
  const parked = parking.filter(({ state }) => state !== 'drained');
  return parked.length === 0 ? [] : [parkingText(parked).trimEnd()];
}

function problemLines(problems: readonly Problem[]): string[] {
  return problems.length === 0
    ? []
    : [
        'last warnings and errors',
        ...problems
          .slice(-shownProblems)
          .map(
            ({ time, level, text, count }) =>
              `  ${time} ${level.padEnd(6)}${escapeControls(text)}${count > 1 ? ` (${count} times)` : ''}`,
          ),
      ];
}
