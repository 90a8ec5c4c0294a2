/** A load run and its verification as text for people. */
import { formatBytes } from '../core/bytes.js';
import type { LoadRun } from './contract.js';
import type { Percentiles } from './histogram.js';
import type { VerifyReport } from './verify.js';

const count = (value: number) => Math.round(value).toLocaleString('en-US');

export function runText(run: LoadRun): string {
  const seconds = run.elapsedMs / 1000;
  const lines = [
    `run ${run.id}${run.stoppedEarly ? ', stopped early' : ''}`,
    `sent          ${count(run.sent)} messages in ${seconds.toFixed(1)} s, ${count(run.sent / Math.max(0.001, seconds))} a second, ${formatBytes(run.bytes)}`,
    ...latencyLine('write', run.write),
    ...latencyLine('accept (202)', run.accept),
  ];
  if (run.reconnects > 0) lines.push(`reconnects    ${count(run.reconnects)}`);
  if (run.pushedBack > 0)
    lines.push(`pushed back   ${count(run.pushedBack)} requests answered 429 or 503 and were sent again`);
  if (run.failed > 0) lines.push(`failed        ${count(run.failed)} requests or datagrams`);
  return lines.join('\n');
}

function latencyLine(name: string, latency: Percentiles): string[] {
  if (latency.count === 0) return [];
  const parts = (
    [
      ['50 %', latency.p50],
      ['90 %', latency.p90],
      ['99 %', latency.p99],
      ['99.9 %', latency.p999],
      ['max', latency.max],
    ] as const
  ).map(([title, value]) => `${title} ${value < 10 ? value.toFixed(2) : value.toFixed(0)}`);
  return [`${name.padEnd(13)} ${parts.join('  ')} ms`];
}

export function verifyText(report: VerifyReport): string {
  const lines = [
    `accepted      ${count(report.accepted)} in the topic (${count(report.sent - report.accepted)} of the sent ones are not)${report.resends > 0 ? `, ${count(report.resends)} resends` : ''}`,
    ...(report.records === report.accepted
      ? []
      : [`records       ${count(report.records)}: some messages came in more than once`]),
    `stored        ${count(report.stored)}${report.searchable === undefined ? '' : `, ${count(report.searchable)} found by a search`}`,
    ...(report.deadLettered === 0 ? [] : [`dead letters  ${count(report.deadLettered)}`]),
    ...(report.dropped === 0 ? [] : [`dropped       ${count(report.dropped)} by rules`]),
    `missing       ${count(report.missing)}${examples(report.examples.missing)}`,
    `doubled       ${count(report.doubled)}${examples(report.examples.doubled)}`,
    `out of order  ${count(report.outOfOrder)}`,
  ];
  if (!report.settled)
    lines.push('The pipeline was still working when the time to wait was over: what is missing may only be late.');
  lines.push(
    report.ok ? 'Every accepted message is stored exactly once.' : 'Accepted messages are missing or doubled.',
  );
  return lines.join('\n');
}

function examples(ids: readonly string[]): string {
  return ids.length === 0 ? '' : `: ${ids.join(', ')}`;
}
