/**
 * The connections over which one topic is appended to. One per topic: kafkajs refreshes the metadata of all topics of a
 * cluster together, and one that was deleted would hold up the others.
 */
import type { Cluster, Kafka } from 'kafkajs';
import { topicErrors } from '../../errors.js';
import { anyBroker, createCluster, errorType, forgetBroker, leaderOf } from '../client/client.js';
import { produce, verdictOf } from './produce.js';
import type { ProducerState } from '../records/record-batch.js';

/**
 * kafkajs does not always find back by itself; after so many failures in a row everything is connected anew, sooner
 * when no broker at all is connected.
 */
const attemptsBeforeNewCluster = 25;
const attemptsWithoutBrokers = 5;
/** Only transactions time out; the field must be there. */
const transactionTimeoutMs = 60_000;

export class TopicConnection {
  readonly #kafka: Kafka;
  readonly #topic: string;
  #cluster: Cluster | undefined;
  #connecting: Promise<Cluster> | undefined;
  /** A request over it was not answered in time. */
  #silent: Cluster | undefined;

  constructor(kafka: Kafka, topic: string) {
    this.#kafka = kafka;
    this.#topic = topic;
  }

  async newProducer(): Promise<ProducerState> {
    const cluster = await this.#connected();
    const broker = await anyBroker(cluster);
    const { producerId, producerEpoch } = await broker.initProducerId({ transactionTimeout: transactionTimeoutMs });
    return { id: BigInt(producerId), epoch: producerEpoch, sequence: 0 };
  }

  async send(partition: number, request: Buffer): Promise<number> {
    const cluster = await this.#connected();
    const leader = await leaderOf(cluster, this.#topic, partition);
    if (leader === undefined)
      throw topicErrors.create('TOPIC_PARTITION_UNKNOWN', { place: `${this.#topic}/${partition}` });
    try {
      return await produce(leader, request);
    } catch (thrown: unknown) {
      if (thrown instanceof Error && thrown.name === 'KafkaJSRequestTimeoutError') this.#silent = cluster;
      throw thrown;
    }
  }

  async recover(failure: unknown, attempts: number): Promise<void> {
    const cluster = this.#cluster;
    if (cluster === undefined) return;
    forgetBroker(cluster, failure);
    // After a network was cut, a connection of before comes back when the system sends again, which may be as long
    // after as the cut lasted; a new one at once.
    if (
      cluster === this.#silent ||
      attempts % (cluster.isConnected() ? attemptsBeforeNewCluster : attemptsWithoutBrokers) === 0
    ) {
      this.#cluster = undefined;
      this.#connecting = undefined;
      cluster.disconnect().catch(() => undefined);
      return;
    }
    await cluster.refreshMetadata();
  }

  async close(): Promise<void> {
    const cluster = this.#cluster;
    this.#cluster = undefined;
    this.#connecting = undefined;
    await cluster?.disconnect().catch(() => undefined);
  }

  #connected(): Promise<Cluster> {
    this.#connecting ??= this.#connect().catch((thrown: unknown) => {
      this.#connecting = undefined;
      throw errorType(thrown) === verdictOf(3).name
        ? topicErrors.create('TOPIC_UNKNOWN', { place: this.#topic, cause: thrown })
        : thrown;
    });
    return this.#connecting;
  }

  async #connect(): Promise<Cluster> {
    const cluster = createCluster(this.#kafka);
    try {
      await cluster.connect();
      await cluster.addTargetTopic(this.#topic);
    } catch (thrown: unknown) {
      cluster.disconnect().catch(() => undefined);
      throw thrown;
    }
    this.#cluster = cluster;
    return cluster;
  }
}
