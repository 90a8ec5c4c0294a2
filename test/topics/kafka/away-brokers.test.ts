import type { Cluster } from 'kafkajs';
import t from 'tap';
import {
  followCoordinator,
  heartbeatTo,
  orFollowLeader,
  orLookAgain,
} from '../../../topics/kafka/consuming/away-brokers.js';
import { anyBroker, type RawBroker } from '../../../topics/kafka/client/client.js';

const request = { groupId: 'group', groupGenerationId: 7, memberId: 'member' };

function failure(name: string, type?: string, cause?: Error): Error {
  return Object.assign(new Error(`${name} ${type ?? ''}`), {
    name,
    ...(type === undefined ? {} : { type }),
    ...(cause === undefined ? {} : { cause }),
  });
}

const closed = failure('KafkaJSConnectionClosedError');
const refused = failure('KafkaJSConnectionError');
const loading = failure('KafkaJSProtocolError', 'GROUP_LOAD_IN_PROGRESS');
const unknownMember = failure('KafkaJSProtocolError', 'UNKNOWN_MEMBER_ID');

function createCoordinator(answer: () => Error | undefined): RawBroker & { readonly beats: number } {
  let beats = 0;
  const broker = {
    get beats() {
      return beats;
    },
    async heartbeat() {
      const error = answer();
      if (error !== undefined) throw error;
      beats += 1;
      return {};
    },
  };
  return broker as unknown as RawBroker & { readonly beats: number };
}

const clusterOf = (find: () => RawBroker): Cluster =>
  ({ findGroupCoordinator: async () => find() }) as unknown as Cluster;

t.test('while the coordinator is away kafkajs goes on, and no fence holds', async (t) => {
  let down: Error | undefined = closed;
  const old = createCoordinator(() => down);
  let successor: RawBroker = old;
  followCoordinator(
    old,
    clusterOf(() => successor),
    'group',
  );
  for (const error of [closed, refused, loading, failure('KafkaJSNumberOfRetriesExceeded', undefined, refused)]) {
    down = error;
    t.equal(await old.heartbeat(request), undefined, `${error.message}: kafkajs does not crash`);
    await t.rejects(heartbeatTo(old, request), error, 'and ownership is not proven');
  }
  const next = createCoordinator(() => undefined);
  followCoordinator(
    next,
    clusterOf(() => next),
    'group',
  );
  successor = next;
  await old.heartbeat(request);
  t.equal(next.beats, 1, 'the next coordinator hears it');
  await t.rejects(heartbeatTo(old, request), 'a fence asks the one that it was made for');
  await heartbeatTo(next, request);
  t.equal(next.beats, 2);
});

t.test('what the coordinator says of the member is heard, from the old one and from the next', async (t) => {
  const old = createCoordinator(() => closed);
  const next = createCoordinator(() => unknownMember);
  followCoordinator(
    old,
    clusterOf(() => next),
    'group',
  );
  await t.rejects(old.heartbeat(request), unknownMember);
  const only = createCoordinator(() => unknownMember);
  followCoordinator(
    only,
    clusterOf(() => {
      throw closed;
    }),
    'group',
  );
  await t.rejects(only.heartbeat(request), unknownMember);
  const strange = createCoordinator(() => closed);
  followCoordinator(
    strange,
    clusterOf(() => {
      throw new TypeError('a fault of ours');
    }),
    'group',
  );
  await t.rejects(strange.heartbeat(request), { message: 'a fault of ours' });
});

t.test(
  'a partition whose leader is gone or has moved asks for fresh metadata, and everything else is an error as before',
  async (t) => {
    for (const error of [
      refused,
      ...['NOT_LEADER_FOR_PARTITION', 'LEADER_NOT_AVAILABLE', 'FENCED_LEADER_EPOCH'].map((type) =>
        failure('KafkaJSProtocolError', type),
      ),
    ]) {
      await t.rejects(orFollowLeader(Promise.reject(error)), { name: 'KafkaJSBrokerNotFound', message: error.message });
    }
    await t.rejects(orLookAgain(Promise.reject(refused)), { name: 'KafkaJSBrokerNotFound' });
    for (const error of [
      closed,
      unknownMember,
      failure('KafkaJSProtocolError', 'UNKNOWN_TOPIC_OR_PARTITION'),
      failure('KafkaJSOffsetOutOfRange', 'OFFSET_OUT_OF_RANGE'),
    ]) {
      await t.rejects(orFollowLeader(Promise.reject(error)), error);
      await t.rejects(orLookAgain(Promise.reject(error)), error);
    }
    t.equal(await orFollowLeader(Promise.resolve(1)), 1);
    t.equal(await orLookAgain(Promise.resolve(2)), 2);
  },
);

t.test('any broker that answers will do', async (t) => {
  const cluster = (answering: readonly string[]): Cluster =>
    ({
      refreshMetadataIfNecessary: async () => undefined,
      getNodeIds: () => ['1', '2', '3'],
      findBroker: async ({ nodeId }: { nodeId: string }) => {
        if (!answering.includes(nodeId)) throw refused;
        return { nodeId, heartbeat: async () => undefined };
      },
    }) as unknown as Cluster;
  t.match(await anyBroker(cluster(['3'])), { nodeId: '3' });
  await t.rejects(anyBroker(cluster([])), refused);
});
