/** Reference pages from what the code declares: error codes and metrics. `scripts/generate-docs.js` writes them, a test checks them for drift. */
import type { ErrorKind } from './errors.js';
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

export function metricsReference(declared: readonly MetricDeclaration[]): string {
  const unique = new Map(declared.map((declaration) => [declaration.name, declaration]));
  const rows = [...unique.values()]
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, type, labels, help }) => `| \`${name}\` | ${type} | ${(labels ?? []).join(', ')} | ${cell(help)} |`);
  return `# Metrics\n\nGenerated from the code by \`npm run docs\`. Served at \`/metrics\` of the admin port.\n\nWithin a run, at rest: received = decoded + refused + shed; decoded = appended + waiting; per index set routed = stored + already stored + dead-lettered + parked + retired + abandoned + in flight.\n\n| name | type | labels | meaning |\n| --- | --- | --- | --- |\n${rows.join('\n')}\n`;
}
