/** Reads a partition without a group, to the log end as it was at the call. */
import type { Cluster, Kafka } from 'kafkajs';
import type { ConsumedRecord } from '../contract.js';
import { topicErrors } from '../errors.js';
import { createCluster, errorType, forgetBroker, leaderOf, type FetchResponse } from './client/client.js';
import type { CodecByAttribute } from './records/decode-records.js';
import { fetchBatches } from './records/fetch-batches.js';
import { fetchedRun } from './records/consumed-records.js';
import { unknownTopic } from './topics.js';

const maxWaitMs = 500;
const fetchBytes = 4 * 2 ** 20;
const readCommitted = 1;
const attemptsPerFetch = 5;

interface ReadRequest {
  readonly topic: string;
  readonly partition: number;
  readonly fromOffset: number;
  readonly onRecords: (records: readonly ConsumedRecord[]) => void | Promise<void>;
}

export async function readPartition(kafka: Kafka, codecOf: CodecByAttribute, request: ReadRequest): Promise<void> {
  const cluster = createCluster(kafka);
  const { topic, partition, onRecords } = request;
  try {
    await cluster.connect();
    await cluster.addTargetTopic(topic).catch((thrown: unknown) => {
      throw unknownTopic(topic, thrown);
    });
    if (!cluster.findTopicPartitionMetadata(topic).some(({ partitionId }) => partitionId === partition))
      throw topicErrors.create('TOPIC_PARTITION_UNKNOWN', { place: `${topic}/${partition}` });
    const offsetOf = async (fromBeginning: boolean): Promise<number> =>
      Number(
        (await cluster.fetchTopicsOffset([{ topic, fromBeginning, partitions: [{ partition }] }]))[0]?.partitions[0]
          ?.offset ?? 0,
      );
    const end = await offsetOf(false);
    let position = Math.max(request.fromOffset, await offsetOf(true));
    while (position < end) {
      const { records, next } = await fetchOnce(cluster, { topic, partition, position, codecOf });
      const wanted = records.filter(({ offset }) => offset < end);
      if (wanted.length > 0) await onRecords(wanted);
      position = next;
    }
  } finally {
    cluster.disconnect().catch(() => undefined);
  }
}

interface FetchPlace {
  readonly topic: string;
  readonly partition: number;
  readonly position: number;
  readonly codecOf: CodecByAttribute;
}

async function fetchOnce(
  cluster: Cluster,
  { topic, partition, position, codecOf }: FetchPlace,
): Promise<{ records: readonly ConsumedRecord[]; next: number }> {
  const partitions = [{ partition, fetchOffset: String(position), maxBytes: fetchBytes }];
  const request = {
    maxWaitTime: maxWaitMs,
    minBytes: 1,
    maxBytes: fetchBytes,
    isolationLevel: readCommitted,
    rackId: '',
    topics: [{ topic, partitions }],
  };
  const answer = await retried(cluster, async (): Promise<FetchResponse> => {
    const leader = await leaderOf(cluster, topic, partition);
    if (leader === undefined) throw topicErrors.create('TOPIC_PARTITION_UNKNOWN', { place: `${topic}/${partition}` });
    return (await fetchBatches(leader, request, codecOf)) ?? leader.fetch(request);
  });
  const run = fetchedRun(answer.responses[0]?.partitions[0]?.messages ?? [], position);
  return { records: run?.records ?? [], next: run?.nextOffset ?? position };
}

async function retried<Result>(cluster: Cluster, run: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await run();
    } catch (thrown: unknown) {
      if (attempt === attemptsPerFetch || errorType(thrown) === 'OFFSET_OUT_OF_RANGE') throw thrown;
      forgetBroker(cluster, thrown);
      await cluster.refreshMetadata();
    }
  }
}
