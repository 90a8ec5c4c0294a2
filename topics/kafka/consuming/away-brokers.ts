/**
 * One broker of several that is gone. kafkajs lets the whole consumer crash after two seconds of it, or has it join its
 * group anew when a partition has moved: either way every partition stands still, those of living brokers too. Here
 * only what was led by that broker waits, asking for fresh metadata until it has another leader, and heartbeats go to
 * the coordinator that there is.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster } from 'kafkajs';
import {
  brokerNotFound,
  causesOf,
  errorType,
  rawBroker,
  type HeartbeatRequest,
  type RawBroker,
} from '../client/client.js';

/** Between two looks for a leader or a coordinator. */
const lookMs = 200;
const awayErrors = new Set([
  'KafkaJSConnectionError',
  'KafkaJSConnectionClosedError',
  'KafkaJSBrokerNotFound',
  'GROUP_COORDINATOR_NOT_AVAILABLE',
  'GROUP_LOAD_IN_PROGRESS',
  'NOT_COORDINATOR_FOR_GROUP',
]);
const movedErrors = new Set([
  'NOT_LEADER_FOR_PARTITION',
  'LEADER_NOT_AVAILABLE',
  'FENCED_LEADER_EPOCH',
  'UNKNOWN_LEADER_EPOCH',
]);

const nameOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.name : '');

/** An error that kafkajs' fetch loop answers with fresh metadata and nothing else, after a pause. */
async function lookAgain(thrown: unknown): Promise<never> {
  await sleep(lookMs);
  throw brokerNotFound(thrown instanceof Error ? thrown.message : String(thrown));
}

/** For `findBroker` of a consumer's cluster. */
export async function orLookAgain<Result>(found: Promise<Result>): Promise<Result> {
  try {
    return await found;
  } catch (thrown: unknown) {
    if (nameOf(thrown) === 'KafkaJSConnectionError') return lookAgain(thrown);
    throw thrown;
  }
}

/** For fetches. A connection that was closed is known to kafkajs. */
export async function orFollowLeader<Result>(fetched: Promise<Result>): Promise<Result> {
  try {
    return await fetched;
  } catch (thrown: unknown) {
    if (nameOf(thrown) === 'KafkaJSConnectionError' || movedErrors.has(errorType(thrown))) return lookAgain(thrown);
    throw thrown;
  }
}

function isAway(thrown: unknown): boolean {
  if (awayErrors.has(errorType(thrown))) return true;
  for (const error of causesOf(thrown, { errors: false }))
    if ('name' in error && typeof error.name === 'string' && awayErrors.has(error.name)) return true;
  return false;
}

type Heartbeat = (request: HeartbeatRequest) => Promise<unknown>;

const ownHeartbeats = new WeakMap<object, Heartbeat>();

/** A heartbeat that resolves only when this coordinator confirmed it: what a fence rests on. */
export function heartbeatTo(coordinator: RawBroker, request: HeartbeatRequest): Promise<unknown> {
  return (ownHeartbeats.get(coordinator) ?? coordinator.heartbeat.bind(coordinator))(request);
}

/**
 * The heartbeats of kafkajs' own loop, from now on: one that finds no coordinator counts as sent. The next coordinator
 * knows the member and its generation, or says that it does not; until then no fence and no commit succeeds.
 */
export function followCoordinator(coordinator: RawBroker, cluster: Cluster, group: string): void {
  const send = coordinator.heartbeat.bind(coordinator);
  ownHeartbeats.set(coordinator, send);
  coordinator.heartbeat = async (request) => {
    try {
      return await send(request);
    } catch (thrown: unknown) {
      if (!isAway(thrown)) throw thrown;
    }
    try {
      const current = rawBroker(await cluster.findGroupCoordinator({ groupId: group }));
      return await heartbeatTo(current, request);
    } catch (thrown: unknown) {
      if (!isAway(thrown)) throw thrown;
      return undefined;
    }
  };
}
