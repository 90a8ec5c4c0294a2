/**
 * What kafkajs does not tell about a consumer group: the generation and member id of each assignment, and a moment
 * before it gives its partitions up. Both are had by standing between kafkajs and the group's coordinator, for this
 * consumer's own cluster only.
 *
 * A heartbeat or commit of kafkajs goes out under the generation that it has by then. Those of a `GroupSession` go out
 * under the generation of the assignment that the session stands for, so the coordinator refuses them when the
 * partition has moved on.
 */
import kafkajs, { type Cluster, type PartitionAssigner } from 'kafkajs';
import { topicErrors } from '../../errors.js';
import { followCoordinator, heartbeatTo, orFollowLeader, orLookAgain } from './away-brokers.js';
import type { CodecByAttribute } from '../records/decode-records.js';
import { fetchBatches } from '../records/fetch-batches.js';
import { errorType, rawBroker, type OffsetCommitRequest, type RawBroker } from '../client/client.js';

interface GroupHooks {
  /**
   * Before a JoinGroup is sent: partitions are still owned; after it they are not. May resolve with the member id of an
   * earlier connection, so that the coordinator need not wait for the session of a member that will not come back.
   */
  beforeJoin(): Promise<string | undefined>;
  /** A JoinGroup is about to be sent; `memberId` is empty when the coordinator is to give one. */
  joining(memberId: string): Promise<void>;
  /** The coordinator has forgotten that member. */
  memberUnknown(): void;
  /** A new assignment begins. */
  joined(session: GroupSession): void;
  /** kafkajs resets a position that is out of range by committing offset -2; this is what is committed instead. */
  replaceReset(topic: string, partition: number): Promise<{ offset: string; metadata: string }>;
}

const lostErrors = new Set([
  'ILLEGAL_GENERATION',
  'UNKNOWN_MEMBER_ID',
  'REBALANCE_IN_PROGRESS',
  'FENCED_INSTANCE_ID',
  'FENCED_MEMBER_EPOCH',
  'STALE_MEMBER_EPOCH',
]);
const observed = new WeakSet<object>();
const decoding = new WeakSet<object>();

export interface PartitionOffsets {
  readonly earliest: number;
  readonly logEnd: number;
}

export class GroupSession {
  readonly generation: number;
  readonly #group: string;
  readonly memberId: string;
  readonly #cluster: Cluster;
  #coordinator: RawBroker;

  constructor(
    group: string,
    cluster: Cluster,
    coordinator: RawBroker,
    answer: { generationId: number; memberId: string },
  ) {
    this.#group = group;
    this.#cluster = cluster;
    this.#coordinator = coordinator;
    this.memberId = answer.memberId;
    this.generation = answer.generationId;
  }

  /** Resolves when the coordinator confirmed, after this call, that the generation is the current one. */
  async heartbeat(): Promise<void> {
    const request = { groupId: this.#group, groupGenerationId: this.generation, memberId: this.memberId };
    await this.#ask((coordinator) => heartbeatTo(coordinator, request));
  }

  async commit(topic: string, partition: number, offset: number, metadata: string): Promise<void> {
    const topics = [{ topic, partitions: [{ partition, offset: String(offset), metadata }] }];
    await this.#ask((coordinator) =>
      coordinator.offsetCommit({
        groupId: this.#group,
        groupGenerationId: this.generation,
        memberId: this.memberId,
        topics,
      }),
    );
  }

  async committed(topic: string, partition: number): Promise<{ offset: number; metadata: string } | undefined> {
    let found: { offset: string; metadata: string | null } | undefined;
    await this.#ask(async (coordinator) => {
      const { responses } = await coordinator.offsetFetch({
        groupId: this.#group,
        topics: [{ topic, partitions: [{ partition }] }],
      });
      found = responses[0]?.partitions[0];
    });
    return found === undefined || Number(found.offset) < 0
      ? undefined
      : { offset: Number(found.offset), metadata: found.metadata ?? '' };
  }

  /** Where these partitions of a topic begin and end now, over connections that are open already. */
  async offsets(topic: string, partitions: readonly number[]): Promise<ReadonlyMap<number, PartitionOffsets>> {
    const asked = partitions.map((partition) => ({ partition }));
    const [earliest, latest] = await Promise.all(
      [true, false].map((fromBeginning) =>
        this.#cluster.fetchTopicsOffset([{ topic, partitions: asked, fromBeginning }]),
      ),
    );
    const ends = new Map((latest?.[0]?.partitions ?? []).map(({ partition, offset }) => [partition, Number(offset)]));
    return new Map(
      (earliest?.[0]?.partitions ?? []).map(({ partition, offset }) => [
        partition,
        { earliest: Number(offset), logEnd: ends.get(partition) ?? Number(offset) },
      ]),
    );
  }

  async #ask(request: (coordinator: RawBroker) => Promise<unknown>): Promise<void> {
    try {
      if (!this.#coordinator.isConnected())
        this.#coordinator = rawBroker(await this.#cluster.findGroupCoordinator({ groupId: this.#group }));
      await request(this.#coordinator);
    } catch (thrown: unknown) {
      const type = errorType(thrown);
      if (lostErrors.has(type))
        throw topicErrors.create('TOPIC_PARTITION_REVOKED', {
          place: `group ${this.#group}`,
          got: type,
          cause: thrown,
        });
      if (type === 'NOT_COORDINATOR_FOR_GROUP')
        this.#coordinator = rawBroker(await this.#cluster.findGroupCoordinator({ groupId: this.#group }));
      throw thrown;
    }
  }
}

/** An assigner that assigns round-robin and reports the group's sessions to `hooks`. */
export function observingAssigner(hooks: GroupHooks, codecOf: CodecByAttribute): PartitionAssigner {
  return (config) => {
    const { cluster, groupId } = config;
    const findBroker = cluster.findBroker.bind(cluster);
    cluster.findBroker = async (node) => {
      const broker = await orLookAgain(findBroker(node));
      decodeOurselves(rawBroker(broker), codecOf);
      return broker;
    };
    const find = cluster.findGroupCoordinator.bind(cluster);
    cluster.findGroupCoordinator = async (group) => {
      const broker = await find(group);
      observe(rawBroker(broker), { group: groupId, cluster, hooks });
      return broker;
    };
    return kafkajs.PartitionAssigners.roundRobin(config);
  };
}

function decodeOurselves(broker: RawBroker, codecOf: CodecByAttribute): void {
  if (decoding.has(broker)) return;
  decoding.add(broker);
  const fetchByKafkajs = broker.fetch.bind(broker);
  broker.fetch = (request) =>
    orFollowLeader(fetchBatches(broker, request, codecOf).then((fetched) => fetched ?? fetchByKafkajs(request)));
}

function observe(coordinator: RawBroker, context: { group: string; cluster: Cluster; hooks: GroupHooks }): void {
  if (observed.has(coordinator)) return;
  observed.add(coordinator);
  const { group, cluster, hooks } = context;
  followCoordinator(coordinator, cluster, group);
  const [join, sync, commit] = [
    coordinator.joinGroup.bind(coordinator),
    coordinator.syncGroup.bind(coordinator),
    coordinator.offsetCommit.bind(coordinator),
  ];
  coordinator.joinGroup = async (request) => {
    const memberId = await hooks.beforeJoin();
    const sent = request['memberId'] === '' && memberId !== undefined ? { ...request, memberId } : request;
    await hooks.joining(sent['memberId'] as string);
    try {
      return await join(sent);
    } catch (thrown: unknown) {
      if (errorType(thrown) === 'UNKNOWN_MEMBER_ID') hooks.memberUnknown();
      throw thrown;
    }
  };
  coordinator.syncGroup = async (request) => {
    const answer = await sync(request);
    hooks.joined(new GroupSession(group, cluster, coordinator, request));
    return answer;
  };
  coordinator.offsetCommit = async (request) => commit(await withoutResets(request, hooks));
}

async function withoutResets(request: OffsetCommitRequest, hooks: GroupHooks): Promise<OffsetCommitRequest> {
  const topics = request.topics.map(async ({ topic, partitions }) => ({
    topic,
    partitions: await Promise.all(
      partitions.map(async (entry) =>
        Number(entry.offset) >= 0
          ? entry
          : { partition: entry.partition, ...(await hooks.replaceReset(topic, entry.partition)) },
      ),
    ),
  }));
  return { ...request, topics: await Promise.all(topics) };
}
