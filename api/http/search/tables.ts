/** Results of the scripting routes: a schema and rows; also as CSV and as a text table. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { csvLines } from '../../../core/csv.js';
import { acceptable } from '../accept.js';

export interface Column {
  readonly column_type: 'field' | 'grouping' | 'metric';
  readonly type: string;
  readonly field?: string;
  readonly function?: string;
  readonly name: string;
}

export interface Table {
  readonly schema: Column[];
  readonly datarows: unknown[][];
  readonly metadata: { readonly effective_timerange: unknown; readonly total_results?: number };
}

export const tableTypes = ['application/json', 'text/csv', 'text/plain'];

/** What a handler returns: the table, or the answer that has been sent in another form. */
export function sendTable(request: FastifyRequest, reply: FastifyReply, table: Table): Table {
  const type = acceptable(request.headers.accept, tableTypes);
  if (type === 'application/json') return table;
  const text =
    type === 'text/csv' ? csvLines([table.schema.map(({ name }) => name), ...table.datarows]) : asciiTable(table);
  return reply
    .type(`${type}; charset=utf-8`)
    .serializer((body: unknown) => body as string)
    .send(text) as unknown as Table;
}

/** Longest cell of a text table. */
const maxCell = 200;

function asciiTable({ schema, datarows }: Table): string {
  const cells = [schema.map(({ name }) => name), ...datarows.map((row) => row.map(cellText))];
  const widths = schema.map((_, at) => Math.max(...cells.map((row) => (row[at] ?? '').length)));
  const rule = `+${widths.map((width) => '-'.repeat(width + 2)).join('+')}+`;
  const [head = '', ...rows] = cells.map(
    (row) => `|${widths.map((width, at) => ` ${(row[at] ?? '').padEnd(width)} `).join('|')}|`,
  );
  return `${[rule, head, rule, ...rows, rule].join('\n')}\n`;
}

function cellText(value: unknown): string {
  const text = value === null || value === undefined ? '-' : typeof value === 'string' ? value : JSON.stringify(value);
  return text.replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, ' ').slice(0, maxCell);
}
