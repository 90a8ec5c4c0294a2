import { holdNext, inTime, pause, retentionByRequest, retire, rotatedOnlyByRequest, withKafka } from '../../acting.js';
import type { Row } from '../../row.js';

const before = 4;
const after = 6;
/** The record of the first new partition, before it is written for the first time. */
const isNewRecord = (method: string, path: string): boolean =>
  method === 'PUT' && /_create\/partitions%2F.*logs%2F[^/]*%2F4(?:\?|$)/.test(path);

export const partitionsAdded: Row = {
  name: 'partitions-added',
  title: `${after - before} partitions added; rotated twice and retired down to one index before the record of a new one is written`,
  sets: ['cluster'],
  cases: ['C10'],
  needs: { settings: retentionByRequest, rules: { keep: 1, maxDocuments: rotatedOnlyByRequest }, alone: true },
  answers: 'the receiver is started with the new partitions',
  inject: async (world) => {
    const held = holdNext(world.http, isNewRecord);
    await withKafka(world, (admin) =>
      admin.createPartitions({ topicPartitions: [{ topic: `${world.topicPrefix}logs`, count: after }] }),
    );
    const [processor] = world.processors;
    await processor.end('SIGTERM');
    for (const program of [processor, world.receiver]) program.change({ topics: { partitions: after } });
    await processor.start();
    await inTime(held.arrived, 'the record of a new partition');
    await world.rotate();
    await pause(500);
    await world.rotate();
    await pause(2_000);
    await retire(world);
    held.release();
    await world.receiver.end('SIGTERM');
  },
  heal: async (world) => {
    await world.receiver.start();
  },
  settle: retire,
};
