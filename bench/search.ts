/**
 * Searches and exports of the real program over its API:
 * `node build/bench/search.js [embedded|opensearch] [--messages N] [--seconds S]`.
 *
 *   --span H       hours that the messages are spread over (default: 1 up to a million messages, 24 beyond)
 *   --range S      seconds back that the searches under load look (default: 3600)
 *   --rows N       messages of each export (default: as many as there are, at most a million)
 *   --phases a,b   of load, whole, export, percentiles (default: all of them)
 *   --folder F     keeps the data there, and goes on with a fill that was stopped; without it everything is removed
 *                  at the end
 *   --fill-for S   seconds that filling may take; the next run goes on (default: as long as it takes)
 *   --rate N       messages a second that come in meanwhile (5000)
 *   --searches N   searches a second (10)
 *   --repeats N    of each kind (5)
 *
 *   --strict       ends with 1 where a target is missed, and not only where an answer is wrong
 *
 * OpenSearch and Kafka are started for it, with their usual heaps, on the same machine.
 */
import { cpus, loadavg, totalmem } from 'node:os';
import { createScope, numberOption } from '../test/endurance/scope.js';
import { benchExports } from './search/exports.js';
import { benchLoad, benchWhole } from './search/load.js';
import { benchPercentiles } from './search/percentiles.js';
import { createWorld, type StoreKind, type World } from './search/world.js';

const option = (name: string): string | undefined => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? undefined : process.argv[at + 1];
};

const targets = { embedded: { load: 500, whole: 4_000 }, opensearch: { load: 250, whole: 1_000 } } as const;
const exportMebibytes = 200;
const hour = 3_600_000;

const strict = process.argv.includes('--strict');
let missed = false;
const say = (line: string): void => {
  if (line.includes('FAILED') || line.includes('OUT OF ORDER') || (strict && line.includes('MISSED'))) missed = true;
  process.stdout.write(`${line}\n`);
};

const kind: StoreKind = process.argv[2] === 'opensearch' ? 'opensearch' : 'embedded';
const messages = numberOption('messages', 200_000);
const phases = (option('phases') ?? 'load,whole,export,percentiles').split(',');
const scope = createScope();
const stopping = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => {
    stopping.abort();
  });

async function run(world: World): Promise<void> {
  const target = targets[kind];
  const range = numberOption('range', 3_600);
  if (phases.includes('whole')) {
    say('  over the whole range, one at a time');
    await benchWhole(world, numberOption('repeats', 5), target.whole, say);
  }
  if (phases.includes('load')) {
    const options = {
      seconds: numberOption('seconds', 20),
      searchesPerSecond: numberOption('searches', 10),
      messagesPerSecond: numberOption('rate', 5_000),
      range,
    };
    say(
      `  ${options.searchesPerSecond} searches a second over the last ${range} s, during ${options.messagesPerSecond} messages a second`,
    );
    await benchLoad(scope, world, { ...options, targetMs: target.load, say });
  }
  if (phases.includes('export'))
    await benchExports(scope, world, {
      rows: numberOption('rows', Math.min(messages, 1_000_000)),
      targetMebibytes: exportMebibytes,
      say,
    });
  if (phases.includes('percentiles')) await benchPercentiles(world, 1_000_000, say);
}

say(
  `search, ${kind}: ${cpus().length} x ${cpus()[0]?.model ?? '?'}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node.js ${process.version}, load ${loadavg()[0]?.toFixed(1)}`,
);
try {
  const world = await createWorld(scope, {
    kind,
    messages,
    spanMs: numberOption('span', messages > 1_000_000 ? 24 : 1) * hour,
    folder: option('folder'),
    say,
    signal: AbortSignal.any([stopping.signal, AbortSignal.timeout(numberOption('fill-for', 3_600) * 1000)]),
  });
  await Promise.race([
    run(world),
    new Promise((_, reject) => {
      stopping.signal.addEventListener('abort', () => reject(new Error('stopped')));
    }),
  ]);
} catch (error) {
  say(`  FAILED: ${error instanceof Error ? error.message : String(error)}`);
} finally {
  await scope.end();
}
process.exit(missed ? 1 : 0);
