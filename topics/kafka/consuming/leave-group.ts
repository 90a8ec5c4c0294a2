/** Lets dead members of a group go, so that the coordinator need not wait for their sessions. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Kafka } from 'kafkajs';
import { createCluster, errorType, rawBroker } from '../client/client.js';

const pollMs = 25;
/** How long our own join may take to reach the coordinator. */
const joinPatienceMs = 2_000;

/**
 * Over a connection of its own: a JoinGroup holds up whatever follows it on the same one. Comes after our own join is
 * known, because a group that has lost all of its members waits for group.initial.rebalance.delay.ms (3 s) before it
 * takes a new one in.
 */
export async function leaveFor(kafka: Kafka, group: string, members: readonly string[]): Promise<void> {
  const cluster = createCluster(kafka);
  try {
    await cluster.connect();
    const coordinator = rawBroker(await cluster.findGroupCoordinator({ groupId: group }));
    for (const until = performance.now() + joinPatienceMs; performance.now() < until; await sleep(pollMs)) {
      const { groups } = await coordinator.describeGroups({ groupIds: [group] });
      if (groups[0]?.state !== 'Stable') break;
    }
    for (const memberId of members) {
      await coordinator.leaveGroup({ groupId: group, memberId }).catch((thrown: unknown) => {
        if (errorType(thrown) !== 'UNKNOWN_MEMBER_ID') throw thrown;
      });
    }
  } finally {
    cluster.disconnect().catch(() => undefined);
  }
}
