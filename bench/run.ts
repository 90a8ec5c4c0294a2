/**
 * `npm run bench`: every benchmark, one after the other, each a process of its own; the output is kept in
 * docs/benchmarks.md with --save.
 */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { cpus, loadavg, totalmem } from 'node:os';
import { join } from 'node:path';
import { packageRoot } from '../core/process/package-root.js';
import { kafkaBrokers, openSearchNode } from '../test/engines.js';

const benches: readonly {
  readonly title: string;
  readonly file: string;
  readonly arguments?: readonly string[];
  readonly needs?: 'kafka' | 'opensearch' | 'both';
}[] = [
  { title: 'Receive: TCP, UDP, gzip, chunked', file: 'receive.js' },
  { title: 'Append and consume, embedded topics', file: 'topics.js' },
  { title: 'Append and consume, Kafka', file: 'kafka.js', needs: 'kafka' },
  { title: 'From record to document text, step by step', file: 'route.js' },
  { title: 'Rules: 10, 100, 1000', file: 'rules.js' },
  { title: 'CPU of each stage', file: 'stages.js' },
  { title: 'Share of the delivery protocol, over Kafka', file: 'protocol.js', needs: 'kafka' },
  { title: 'Two processors against one, over a topic filled before', file: 'scaling.js', needs: 'both' },
  { title: 'Embedded store', file: 'store-embedded.js' },
  { title: 'OpenSearch', file: 'store-opensearch.js', needs: 'opensearch' },
  { title: 'Outputs: topic to wire', file: 'outputs.js' },
  { title: 'End to end, embedded', file: 'end-to-end.js', arguments: ['embedded'] },
  { title: 'End to end, Kafka and OpenSearch', file: 'end-to-end.js', arguments: ['cluster', '200000'], needs: 'both' },
  {
    title: 'Search and export, embedded',
    file: 'search.js',
    arguments: ['embedded', '--messages', '100000', '--seconds', '10', '--repeats', '2'],
  },
  {
    title: 'Search and export, Kafka and OpenSearch',
    file: 'search.js',
    arguments: ['opensearch', '--messages', '100000', '--seconds', '10', '--repeats', '2'],
    needs: 'both',
  },
];

const kept: string[] = [];
const say = (text: string): void => {
  process.stdout.write(text);
  kept.push(text);
};

/** Longest that one benchmark may take. */
const timeout = 300_000;

say(
  `${cpus().length} x ${cpus()[0]?.model ?? '?'}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node.js ${process.version}, load ${loadavg()
    .map((load) => load.toFixed(1))
    .join(' ')}\n`,
);
let failed = 0;
for (const bench of benches) {
  const missing = [
    (bench.needs === 'kafka' || bench.needs === 'both') && kafkaBrokers() === undefined ? 'SLUICE_TEST_KAFKA' : '',
    (bench.needs === 'opensearch' || bench.needs === 'both') && openSearchNode() === undefined
      ? 'SLUICE_TEST_OPENSEARCH'
      : '',
  ].filter((name) => name !== '');
  say(`\n${bench.title}\n`);
  if (missing.length > 0) {
    say(`  left out: set ${missing.join(' and ')} (test/engines/engines start)\n`);
    continue;
  }
  say(`  load ${loadavg()[0]?.toFixed(1)}\n`);
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    [join(import.meta.dirname, bench.file), ...(bench.arguments ?? [])],
    { encoding: 'utf8', timeout },
  );
  say(stdout.replace(/^/gm, '  ').trimEnd() + '\n');
  if (status !== 0) {
    failed += 1;
    say(`  failed: ${stderr.slice(-500)}\n`);
  }
}
if (process.argv.includes('--save')) {
  const head =
    '# Measured\n\nThe latest run of `npm run bench -- --save`, as it was printed. Machines differ and are noisy: ratios count more than figures.\n';
  writeFileSync(join(packageRoot, 'docs', 'benchmarks.md'), `${head}\n\`\`\`\n${kept.join('')}\`\`\`\n`);
}
process.exitCode = failed > 0 ? 1 : 0;
