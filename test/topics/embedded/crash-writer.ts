/**
 * A process to be killed: appends to two partitions without end and prints what was acknowledged,
 * `<partition> <next offset>` a line. With a number of bytes it keeps so many of each partition.
 */
import { writeSync } from 'node:fs';
import { silentLog } from '../../../core/log.js';
import { Registry } from '../../../core/metrics.js';
import { createEmbeddedTopicLog } from '../../../topics/embedded.js';
import { createRecord, topicSpec } from '../collect.js';

const [, , folder = '', retentionBytes] = process.argv;
const log = createEmbeddedTopicLog({
  folder,
  segmentBytes: 1_000_000,
  reserveBytes: 1,
  log: silentLog,
  registry: new Registry(),
});
await log.start();
await log.ensureTopics([
  { ...topicSpec('logs', 2), retentionBytes: retentionBytes === undefined ? undefined : Number(retentionBytes) },
]);
if (retentionBytes !== undefined) setInterval(() => void log.maintain(), 20);
const padding = 'x'.repeat(380);

async function appendForever(partition: number, from: number): Promise<void> {
  for (let next = from; ; ) {
    const records = Array.from({ length: 1 + (next % 200) }, (_, index) => createRecord(next + index, padding));
    await log.append('logs', partition, records);
    next += records.length;
    writeSync(1, `${partition} ${next}\n`);
  }
}

await Promise.all((await log.partitions('logs')).map(({ partition, logEnd }) => appendForever(partition, logEnd)));
