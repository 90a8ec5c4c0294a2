/** `sluice status` for people. */
import { formatBytes } from '../core/bytes.js';
import { parkingText, type ParkedSetAnswer } from './parking.js';

interface StatusAnswer {
  readonly pid: number;
  readonly receivers: readonly { readonly name: string; readonly host: string; readonly port: number; readonly tls: boolean }[];
  readonly workers?: readonly { readonly worker: number; readonly pid?: number; readonly ready: boolean; readonly restarts: number }[];
  /** Of a processor: what it has of the topics. */
  readonly partitions?: readonly string[];
  readonly lag?: number;
  readonly rule_set_version?: string;
  readonly epoch?: { readonly number: number; readonly indices: Readonly<Record<string, string>> };
  readonly index_sets: readonly { readonly id: string; readonly indices: readonly { readonly name: string; readonly documents: number; readonly bytes: number; readonly open: boolean }[] }[];
  readonly parking?: readonly ParkedSetAnswer[];
  readonly ready: { readonly ok: boolean; readonly checks: readonly { readonly name: string; readonly ok: boolean; readonly reason: string }[] };
}

export function statusText(answer: unknown): string {
  const status = answer as StatusAnswer;
  const lines = [`process ${status.pid}, ${status.ready.ok ? 'ready' : 'not ready'}`];
  for (const check of status.ready.checks) if (!check.ok) lines.push(`  cannot ${check.name}: ${check.reason}`);
  for (const { name, host, port, tls } of status.receivers) lines.push(`  receiver ${name} on ${host}:${port}${tls ? ' (TLS)' : ''}`);
  for (const { worker, pid, ready, restarts } of status.workers ?? []) lines.push(`  worker ${worker}: ${pid === undefined ? 'being started' : `process ${pid}, ${ready ? 'runs' : 'being started'}`}${restarts === 0 ? '' : `, started again ${restarts} times`}`);
  if (status.partitions?.length === 0) lines.push('  no partitions: there are more processors than partitions, and this one waits as a spare');
  if (status.lag !== undefined) lines.push(`  ${status.lag} accepted messages wait to be stored`);
  if (status.epoch !== undefined) lines.push(`  rule set ${status.rule_set_version ?? '?'}, epoch ${status.epoch.number}`);
  if (status.index_sets.length > 0) lines.push('', `${'index set'.padEnd(30)}${'writes to'.padEnd(34)}${'indices'.padStart(8)}${'documents'.padStart(14)}${'size'.padStart(12)}`);
  for (const { id, indices } of status.index_sets) {
    const documents = indices.reduce((sum, index) => sum + index.documents, 0);
    const bytes = indices.reduce((sum, index) => sum + index.bytes, 0);
    lines.push(`${id.padEnd(30)}${(status.epoch?.indices[id] ?? '-').padEnd(34)}${String(indices.length).padStart(8)}${String(documents).padStart(14)}${formatBytes(bytes).padStart(12)}`);
  }
  const parked = (status.parking ?? []).filter(({ state }) => state !== 'drained');
  if (parked.length > 0) lines.push('', parkingText(parked).trimEnd());
  return `${lines.join('\n')}\n`;
}
