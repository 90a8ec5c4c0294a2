import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { node } from '../../program.js';

const moduleOf = (...path: readonly string[]): string =>
  JSON.stringify(pathToFileURL(join(import.meta.dirname, '..', '..', '..', ...path)).href);

/**
 * A process that only sends: hands so many messages to an output whose destination never answers, and tells its young
 * generation before and behind.
 */
const script = (messages: number): string => `
import { getHeapSpaceStatistics } from 'node:v8';
const { Sender } = await import(${moduleOf('sinks', 'outputs', 'sender.js')});
const { holdYoungGeneration } = await import(${moduleOf('core', 'process', 'young-generation.js')});
holdYoungGeneration();
const { silentLog } = await import(${moduleOf('core', 'log.js')});
const { buildMetrics, Registry } = await import(${moduleOf('core', 'metrics.js')});
const { outputMetrics } = await import(${moduleOf('pipeline', 'forwarding', 'metrics.js')});
const { OutputWorker } = await import(${moduleOf('pipeline', 'forwarding', 'worker.js')});
let handler;
const topics = { consume: async (options, given) => { handler = given; return { finished: new Promise(() => undefined) }; } };
const encoder = { encode: (records) => ({ to: records.length, parcel: { parts: [], bytes: 0, messages: records.length, nextOffset: records.length } }) };
const link = { address: 'nowhere', connect: () => new Promise(() => undefined) };
const settings = { id: 'o', on_full: 'hold', confirm_after_ms: 1_000, unconfirmed_bytes: 1_000, idle_timeout_ms: 0, retry_most_ms: 1_000 };
const worker = new OutputWorker({ settings, topics, topic: 't', group: 'g', maxWaitingBytes: 1, maxAgeMs: 1, encoder, link, loopGuard: { check: () => undefined }, createSender: (options) => new Sender(options), metrics: buildMetrics(new Registry(), outputMetrics), log: silentLog });
await worker.start();
await handler.assigned({ position: 0, committed: undefined, earliest: 0 });
const kept = [];
const grown = () => {
  for (let count = 0; count < 300_000; count += 1) kept.push({ count, text: 'x' + count });
  return getHeapSpaceStatistics().find((space) => space.space_name === 'new_space').space_size;
};
const before = grown();
await handler.batch({ records: Array.from({ length: ${messages} }, (_, offset) => ({ offset, key: 'k' + offset, value: Buffer.from('m' + offset), timestamp: 0, origin: '' })), nextOffset: ${messages} });
process.stdout.write(JSON.stringify({ before, behind: grown() }), () => process.exit());`;

function sizesAround(messages: number): { readonly before: number; readonly behind: number } {
  const [command, ...leading] = node;
  return JSON.parse(
    execFileSync(command, [...leading, '--input-type=module', '-e', script(messages)], { encoding: 'utf8' }),
  ) as { before: number; behind: number };
}

t.test('what an output sends is traffic, and the young generation grows with it', async (t) => {
  const few = sizesAround(999);
  t.equal(few.behind, few.before, 'a few messages are none');
  const many = sizesAround(1_000);
  t.ok(many.behind > many.before, JSON.stringify(many));
});
