/**
 * When a cluster of brokers serves again after a fault, as a client sees it that shares nothing with the program under
 * test.
 */
import { setTimeout as wait } from 'node:timers/promises';
import kafkajs from 'kafkajs';
import { until } from '../../program.js';
import { withKafka } from '../acting.js';
import type { World } from '../world/world.js';

/** Led by one broker each, as long as all are there. */
const replicas = [
  [1, 2, 3],
  [2, 3, 1],
  [3, 1, 2],
];
const againMs = 100;
/** Longer than the brokers need to give a silent one up (9 s), elect a controller and do it again. */
const waitMostMs = 60_000;

const topicOf = (world: World): string => `${world.topicPrefix}probe`;

/** Before the fault. */
export async function createProbe(world: World): Promise<void> {
  await withKafka(world, async (admin) => {
    if ((await admin.listTopics()).includes(topicOf(world))) return;
    const entry = {
      topic: topicOf(world),
      replicaAssignment: replicas.map((brokers, partition) => ({ partition, replicas: brokers })),
      configEntries: [{ name: 'min.insync.replicas', value: '2' }],
    };
    await admin.createTopics({ topics: [entry], waitForLeaders: true });
  });
}

/**
 * Resolves when whatever any of the brokers led has a leader that acknowledges from all replicas in sync, every
 * partition of the topics tells its end, and the processors' group has a coordinator.
 */
export async function brokersServe(world: World): Promise<void> {
  await Promise.all(replicas.map((_, partition) => appended(world, partition)));
  await until(
    async () =>
      world.progress().then(
        () => true as const,
        () => undefined,
      ),
    waitMostMs,
    () => 'the brokers do not tell offsets',
  );
}

/**
 * A client of its own each time knows nothing from before the fault. A leader that waits for its replicas is waited
 * for.
 */
async function appended(world: World, partition: number): Promise<void> {
  for (const deadline = Date.now() + waitMostMs; ; ) {
    const kafka = new kafkajs.Kafka({
      clientId: 'fault-table',
      brokers: [...(world.own?.brokers ?? [])],
      logLevel: kafkajs.logLevel.NOTHING,
      connectionTimeout: 1_000,
      requestTimeout: waitMostMs,
      retry: { retries: 2, initialRetryTime: 50 },
    });
    const producer = kafka.producer({
      allowAutoTopicCreation: false,
      createPartitioner: () => () => partition,
      retry: { retries: 0 },
    });
    try {
      await producer.connect();
      await producer.send({
        topic: topicOf(world),
        acks: -1,
        timeout: waitMostMs,
        messages: [{ value: 'probe', partition }],
      });
      return;
    } catch (thrown) {
      if (Date.now() > deadline) throw thrown;
    } finally {
      producer.disconnect().catch(() => undefined);
    }
    await wait(againMs);
  }
}
