import t from 'tap';
import type { TopicRecord } from '../../../topics/contract.js';
import { topicErrors } from '../../../topics/errors.js';
import { PartitionAppender, type AppendTransport } from '../../../topics/kafka/appending/partition-appender.js';
import { recordBytes } from '../../../topics/kafka/records/record-batch.js';
import { createRecords } from '../collect.js';

const [done, outOfOrder, tooLarge, notLeader, invalidTimestamp] = [0, 45, 10, 6, 32];

/** A broker that answers from a list, then always that the batch is durable. */
function createBroker(answers: (number | Error)[]) {
  const sent: { producer: bigint; sequence: number; count: number }[] = [];
  let producers = 0n;
  let together = 0;
  let most = 0;
  const transport: AppendTransport = {
    async newProducer() {
      producers += 1n;
      return { id: producers, epoch: 0, sequence: 0 };
    },
    async send(request) {
      together += 1;
      most = Math.max(most, together);
      await new Promise((resolve) => {
        setTimeout(resolve, 2);
      });
      together -= 1;
      const batch = request.subarray(26 + 'logs'.length);
      sent.push({ producer: batch.readBigInt64BE(43), sequence: batch.readInt32BE(53), count: batch.readInt32BE(57) });
      const answer = answers.shift() ?? done;
      if (answer instanceof Error) throw answer;
      return answer;
    },
    recover: async () => undefined,
  };
  return { transport, sent, mostTogether: () => most };
}

function createAppender(
  transport: AppendTransport,
  changes: { batchBytes?: number; isKnown?: boolean } = {},
): PartitionAppender {
  return new PartitionAppender(
    {
      topic: 'logs',
      partition: 0,
      codec: undefined,
      timeoutMs: 1000,
      batchBytes: () => changes.batchBytes ?? 1_000_000,
      isKnown: () => changes.isKnown ?? true,
      onAppended: () => undefined,
      onFailed: () => undefined,
      onResent: () => undefined,
    },
    transport,
  );
}

const append = (appender: PartitionAppender, records: readonly TopicRecord[]) =>
  appender.append(
    records,
    records.reduce((sum, record) => sum + recordBytes(record), 0),
  );

t.test('one request is under way at a time, and appends that wait share the next one', async (test) => {
  const { transport, sent, mostTogether } = createBroker([]);
  const appender = createAppender(transport);
  await Promise.all([
    append(appender, createRecords(0, 1)),
    append(appender, createRecords(1, 3)),
    append(appender, createRecords(4, 2)),
  ]);
  test.equal(mostTogether(), 1);
  test.same(sent, [
    { producer: 1n, sequence: 0, count: 1 },
    { producer: 1n, sequence: 1, count: 5 },
  ]);
  test.equal(appender.waitingBytes, 0);
});

t.test('without an answer the same batch is sent again under the same sequence', async (test) => {
  const { transport, sent } = createBroker([new Error('Closed connection'), notLeader]);
  const appender = createAppender(transport);
  const first = append(appender, createRecords(0, 3));
  await Promise.all([first, append(appender, createRecords(3, 2))]);
  test.same(sent, [
    ...Array.from({ length: 3 }, () => ({ producer: 1n, sequence: 0, count: 3 })),
    { producer: 1n, sequence: 3, count: 2 },
  ]);
});

t.test('a record whose time the topic does not take is held until it does', async (test) => {
  const { transport, sent } = createBroker([invalidTimestamp, invalidTimestamp]);
  await append(createAppender(transport), createRecords(0, 2));
  test.same(
    sent,
    Array.from({ length: 3 }, () => ({ producer: 1n, sequence: 0, count: 2 })),
  );
});

t.test('when the broker has lost the numbering, the same records go out under a new producer', async (test) => {
  const { transport, sent } = createBroker([done, outOfOrder]);
  const appender = createAppender(transport);
  await append(appender, createRecords(0, 3));
  await append(appender, createRecords(3, 2));
  await append(appender, createRecords(5, 1));
  test.same(sent, [
    { producer: 1n, sequence: 0, count: 3 },
    { producer: 1n, sequence: 3, count: 2 },
    { producer: 2n, sequence: 0, count: 2 },
    { producer: 2n, sequence: 2, count: 1 },
  ]);
});

t.test(
  'a batch that is too large for the broker is split; one record that is too large is refused alone',
  async (test) => {
    const { transport, sent } = createBroker([tooLarge, tooLarge]);
    const appender = createAppender(transport);
    await append(appender, createRecords(0, 8));
    test.equal(sent[0]?.count, 8);
    test.ok(sent.slice(2).every(({ count }) => count <= 2));
    test.equal(
      sent.slice(2).reduce((sum, { count }) => sum + count, 0),
      8,
    );
    const { transport: strict } = createBroker([tooLarge]);
    const other = createAppender(strict);
    const refused = append(other, createRecords(0, 1));
    const accepted = append(other, createRecords(1, 1));
    await test.rejects(refused, { code: 'TOPIC_RECORD_TOO_LARGE' });
    await accepted;
  },
);

t.test('batches stay below their bound of bytes', async (test) => {
  const { transport, sent } = createBroker([]);
  const records = createRecords(0, 10);
  const size = recordBytes(records[0] as TopicRecord);
  await append(createAppender(transport, { batchBytes: size * 3 }), records);
  test.same(
    sent.map(({ count }) => count),
    [3, 3, 3, 1],
  );
});

t.test('a topic that was never seen is refused after some attempts; one that was seen is waited for', async (test) => {
  const unknown = () => topicErrors.create('TOPIC_UNKNOWN');
  const { transport } = createBroker(Array.from({ length: 20 }, unknown));
  await test.rejects(append(createAppender(transport, { isKnown: false }), createRecords(0, 1)), {
    code: 'TOPIC_UNKNOWN',
  });
  const { transport: back } = createBroker(Array.from({ length: 5 }, unknown));
  await append(createAppender(back), createRecords(0, 1));
});

t.test('what waits is refused when the log stops', async (test) => {
  const { transport } = createBroker(Array.from({ length: 100 }, () => new Error('away')));
  const appender = createAppender(transport);
  const waiting = append(appender, createRecords(0, 1));
  test.ok(appender.oldest() !== undefined);
  appender.abandon();
  await test.rejects(waiting, { code: 'TOPIC_LOG_STOPPED' });
});
