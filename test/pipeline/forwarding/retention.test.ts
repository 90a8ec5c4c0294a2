/** What a topic's own retention removed before it was sent is counted from the offsets. */
import t from 'tap';
import type { ConsumedBatch, ConsumeHandler, TopicLog } from '../../../topics/contract.js';
import { until } from '../../program.js';
import { createStreamDestination } from '../../sinks/outputs/receivers.js';
import { createWorld } from './world.js';

t.test('gaps between the committed and the earliest offset, and between batches', async (t) => {
  const destination = await createStreamDestination(t);
  let handler: ConsumeHandler | undefined;
  const topics = {
    capabilities: () => ({ shared: true, name: 'kafka' }),
    start: async () => undefined,
    stop: async () => undefined,
    ensureTopics: async () => [],
    consume: async (_: unknown, given: ConsumeHandler) => {
      handler = given;
      return {
        stop: async () => undefined,
        finished: new Promise<void>(() => undefined),
        commit: async () => undefined,
      };
    },
    partitions: async () => [{ partition: 0, earliest: 25, logEnd: 42, bytes: undefined }],
    committed: async () => new Map([[0, 10]]),
  } as unknown as TopicLog;
  const world = await createWorld(t, [{ id: 'a', port: destination.port }], { topics: () => topics });
  const place = { topic: 'sluice.output.a', partition: 0, groupGeneration: 1, logEnd: 42 };
  await handler?.assigned({
    ...place,
    position: 25,
    committed: { offset: 10, metadata: '' },
    earliest: 25,
    fence: async () => undefined,
  });
  t.equal(await world.metric('messages_dropped_total', 'a'), 15);
  const batch = (offsets: readonly number[]): ConsumedBatch => ({
    ...place,
    records: offsets.map((offset) => ({
      offset,
      key: `k${offset}`,
      value: Buffer.from(`{"_n":${offset}}`),
      timestamp: Date.now(),
      origin: 'r p',
    })),
    nextOffset: (offsets.at(-1) ?? 0) + 1,
    revoked: () => false,
    fence: async () => undefined,
  });
  await handler?.batch(batch([25, 26]));
  await handler?.batch(batch([40, 41]));
  t.equal(await world.metric('messages_dropped_total', 'a'), 15 + 13);
  await until(
    () => (destination.frames(0).length === 4 ? true : undefined),
    5_000,
    () => 'not sent',
  );
  t.match(await world.status('a'), { dropped: 28 });
});
