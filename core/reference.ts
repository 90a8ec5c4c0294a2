/**
 * Reference pages from what the code declares: error codes, events and metrics. `scripts/generate-docs.js` writes
 * them, a test checks them for drift.
 */
import type { ErrorKind } from './errors.js';
import { declarationOf, type EventDeclaration } from './events.js';
import type { MetricDeclaration } from './metrics.js';

const cell = (text: string): string => text.replaceAll('|', '\\|');

/** Tables by the file that declares them, for example `receivers/errors.ts`. */
export function errorsReference(tables: ReadonlyMap<string, Readonly<Record<string, ErrorKind>>>): string {
  const parts = [...tables]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([file, kinds]) => {
      const rows = Object.entries(kinds)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(
          ([code, { retryable, status, exitCode, summary }]) =>
            `| \`${code}\` | ${retryable ? 'may pass later' : 'permanent'} | ${status ?? (retryable ? 503 : 500)} | ${exitCode ?? 1} | ${cell(summary)} |`,
        );
      return `## ${file}\n\n| code | class | status | exit | what happened, what to do |\n| --- | --- | --- | --- | --- |\n${rows.join('\n')}\n`;
    });
  return `# Error codes\n\nGenerated from the code by \`npm run docs\`. Each error also names the place, what came and what is allowed.\n\n\`status\`: the HTTP status of an answer that tells it. \`exit\`: how a command that fails with it ends; 2 asks for another request.\n\n${parts.join('\n')}`;
}

/** Tables of `defineEvents` by the file that declares them, for example `receivers/events.ts`. */
export function eventsReference(tables: ReadonlyMap<string, object>): string {
  const parts = [...tables]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([file, table]) => {
      const rows = Object.values(table)
        .flatMap(eventOf)
        .sort((a, b) => (a.name < b.name ? -1 : 1))
        .map((event) => `| \`${event.name}\` | ${event.level} | ${cell(templateOf(event))} | ${fieldsOf(event)} |`);
      return `## ${file}\n\n| event | level | message | fields |\n| --- | --- | --- | --- |\n${rows.join('\n')}\n`;
    });
  return `# Events of the log\n\n${eventsPreface}\n\n${parts.join('\n')}`;
}

const eventsPreface =
  'Generated from the code by `npm run docs`. The log has one JSON object a line: `time`, `level` (20 debug, 30 info, ' +
  '40 warn, 50 error, 60 fatal), `event`, the fields of the event and its message in `msg`. Look for `event`: messages ' +
  'are for people and may change. A field with a question mark may be absent; `…` stands for a varying part.';

/** Nothing for members of a module that are not events. */
function eventOf(emit: object): EventDeclaration[] {
  return declarationOf in emit ? [emit[declarationOf] as EventDeclaration] : [];
}

function templateOf({ message }: EventDeclaration): string {
  return typeof message === 'string' ? message : message(...Array.from({ length: message.length }, () => '…'));
}

function fieldsOf({ fields = {} }: EventDeclaration): string {
  return Object.entries(fields)
    .map(([name, kind]) => `\`${name}\`${kind.endsWith('?') ? '?' : ''}`)
    .join(', ');
}

export function metricsReference(declared: readonly MetricDeclaration[]): string {
  const unique = new Map(declared.map((declaration) => [declaration.name, declaration]));
  const rows = [...unique.values()]
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, type, labels, help }) => `| \`${name}\` | ${type} | ${(labels ?? []).join(', ')} | ${cell(help)} |`);
  return `# Metrics\n\nGenerated from the code by \`npm run docs\`. Served at \`/metrics\` of the admin port.\n\nWithin a run, at rest: received = decoded + refused + shed; decoded = appended + waiting; per index set routed = stored + already stored + dead-lettered + parked + retired + abandoned + in flight.\n\n| name | type | labels | meaning |\n| --- | --- | --- | --- |\n${rows.join('\n')}\n`;
}
