/** The fault table as text: for the terminal, and as docs/faults.md. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../core/process/package-root.js';
import { rows } from './rows/registry.js';
import { isExact, isInTime, type RowResult } from './run-row.js';

const begin = '<!-- results: written by npm run faults -- --save -->';
const end = '<!-- end of results -->';

const number = (value: number): string => value.toLocaleString('en-US');
const seconds = (result: RowResult): string => (result.seconds === undefined ? 'never' : result.seconds.toFixed(1));
const titleOf = (result: RowResult): string => rows.find(({ name }) => name === result.row)?.title ?? result.row;

export function verdict(result: RowResult): string {
  const { outputs } = result;
  if (
    result.error !== undefined &&
    (outputs?.missing ?? 0) + result.missing + result.doubled + result.outOfOrder + result.unaccepted === 0
  )
    return 'failed';
  if (!isExact(result)) return 'not exact';
  if (outputs?.heldUp === true) return 'held up';
  if (outputs?.grew === true) return 'grew';
  return isInTime(result) ? 'ok' : 'late';
}

export function lineOf(result: RowResult): string {
  const { engines, load, row, sent, accepted, stored, missing, doubled, outOfOrder } = result;
  const counts = `sent ${number(sent)}, accepted ${number(accepted)}, stored ${number(stored)}, missing ${missing}, doubled ${doubled}, out of order ${outOfOrder}${outputsText(result)}`;
  const failure = result.error === undefined ? '' : `\n    ${result.error.split('\n').slice(0, 6).join('\n    ')}`;
  return `${verdict(result).padEnd(9)} ${engines.padEnd(8)} ${load.padEnd(5)} ${row.padEnd(30)} full speed ${seconds(result).padStart(5)} s; ${counts}${failure}`;
}

function outputsText({ outputs }: RowResult): string {
  if (outputs === undefined) return '';
  const { outputs: count, delivered, missing, outOfOrder, repeated, others, processed, growth } = outputs;
  return `\n    ${count} outputs: ${number(delivered)} delivered, missing ${missing}, out of order ${outOfOrder}, sent again ${number(repeated)}; meanwhile others ${share(others)}, index sets ${share(processed)}, memory ${growth < 0 ? '' : '+'}${Math.round(growth / 2 ** 20)} MiB`;
}

const share = (value: number | undefined): string => (value === undefined ? '-' : `${Math.round(value * 100)} %`);

export function tableOf(results: readonly RowResult[]): string {
  const head = [
    'fault',
    'sent',
    'accepted',
    'stored',
    'missing',
    'doubled',
    'out of order',
    'resent',
    'dead letters',
    'seconds',
    '',
  ];
  const lines = results.map((result) => [
    titleOf(result),
    number(result.sent),
    number(result.accepted),
    number(result.stored),
    String(result.missing),
    String(result.doubled),
    String(result.outOfOrder),
    number(result.resent),
    number(result.deadLetters),
    seconds(result),
    verdict(result) === 'ok' ? '' : `**${verdict(result)}**`,
  ]);
  return [head, head.map(() => '---'), ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** What the destinations of outputs have, below the table of what the index sets have. */
function outputTable(results: readonly RowResult[]): string[] {
  const head = [
    'fault',
    'delivered',
    'missing',
    'out of order',
    'sent again',
    'other outputs meanwhile',
    'index sets meanwhile',
    'memory',
  ];
  const lines = results.flatMap((result) =>
    result.outputs === undefined
      ? []
      : [
          [
            titleOf(result),
            number(result.outputs.delivered),
            String(result.outputs.missing),
            String(result.outputs.outOfOrder),
            number(result.outputs.repeated),
            share(result.outputs.others),
            share(result.outputs.processed),
            `${result.outputs.growth < 0 ? '' : '+'}${Math.round(result.outputs.growth / 2 ** 20)} MiB`,
          ],
        ],
  );
  return lines.length === 0
    ? []
    : [[head, head.map(() => '---'), ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n'), ''];
}

const sections = {
  embedded: 'Embedded engines',
  cluster: 'Kafka and OpenSearch',
  brokers: 'Three brokers',
  hosts: 'Hosts of their own',
} as const;

function resultsText(results: readonly RowResult[]): string {
  const parts: string[] = [];
  for (const [set, title] of Object.entries(sections)) {
    for (const load of ['light', 'full'] as const) {
      const some = results.filter((result) => result.engines === set && result.load === load);
      if (some.length === 0) continue;
      const rates = [...new Set(some.map(({ rate }) => rate))]
        .filter((rate) => rate > 0)
        .map(number)
        .join(' or ');
      const seeds = [...new Set(some.map(({ seed }) => seed))].join(', ');
      const away = [
        ...new Set(some.flatMap(({ awayMs }) => (awayMs === undefined ? [] : [`${awayMs / 1000} s`]))),
      ].join(' or ');
      parts.push(
        `### ${title}, ${load} load`,
        '',
        `${rates} messages a second over TCP, and HTTP beside it; seed ${seeds}${away === '' ? '' : `; engines away for ${away}`}.`,
        '',
        tableOf(some),
        '',
        ...outputTable(some),
      );
    }
  }
  return parts.join('\n');
}

/** Puts the results between their marks in docs/faults.md. */
export function saveResults(results: readonly RowResult[]): string {
  const file = join(packageRoot, 'docs/faults.md');
  const text = readFileSync(file, 'utf8');
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`${file} has no place for the results: ${begin} and ${end}`);
  writeFileSync(file, `${text.slice(0, from + begin.length)}\n\n${resultsText(results)}\n${text.slice(to)}`);
  return file;
}
