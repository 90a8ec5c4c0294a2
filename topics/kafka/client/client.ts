/**
 * The kafkajs client: connections with TCP_NODELAY, TLS, SASL, its logger turned down, and the two internals of it that
 * we build on.
 */
import { readFileSync } from 'node:fs';
import { connect as connectTcp, isIP } from 'node:net';
import { connect as connectTls, type ConnectionOptions } from 'node:tls';
import kafkajs, {
  type Cluster,
  type ISocketFactory,
  type Kafka,
  type KafkaConfig,
  type LogEntry,
  type SASLOptions,
} from 'kafkajs';
import { createRateLimit, type Log } from '../../../core/log.js';
import type { ClientTls } from '../../../schemas/config/engines.js';
import { repairKafkajs } from './kafkajs-repairs.js';
import type { KafkaSasl, KafkaSettings } from '../options.js';
import { topicErrors } from '../../errors.js';
import { kafkaEvents } from '../events.js';

/** Keep-alive probes find a broker whose machine vanished while a long poll waits. */
const keepAliveMs = 30_000;
const logLinesPerMinute = 6;
const maxConnectionTimeoutMs = 5_000;
/** kafkajs' own retries, short: the loops around it decide, and never give up. */
const retry = { retries: 2, initialRetryTime: 100, maxRetryTime: 1_000, factor: 0.2 };

const directSocket: ISocketFactory = ({ host, port, ssl, onConnect }) => {
  const socket = ssl
    ? connectTls({ host, port, ...(isIP(host) === 0 ? { servername: host } : {}), ...ssl }, onConnect)
    : connectTcp({ host, port }, onConnect);
  socket.setNoDelay(true);
  socket.setKeepAlive(true, keepAliveMs);
  return socket;
};

function tlsOptions(tls: ClientTls): ConnectionOptions {
  const file = (path: string): Buffer | undefined => (path === '' ? undefined : readFileSync(path));
  const [ca, cert, key] = [file(tls.ca_file), file(tls.cert_file), file(tls.key_file)];
  return {
    rejectUnauthorized: tls.reject_unauthorized,
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
  };
}

function saslOptions(sasl: KafkaSasl): SASLOptions {
  const { mechanism, username, password } = sasl;
  if (mechanism === 'none') throw new TypeError('no mechanism');
  return { mechanism, username, password };
}

/** kafkajs tells each retry as an error; what matters is told by the loops that wait. */
function logCreator(log: Log): () => (entry: LogEntry) => void {
  const allow = createRateLimit(logLinesPerMinute);
  return () => (entry) => {
    const { message, error, broker, groupId } = entry.log as {
      message: string;
      error?: unknown;
      broker?: unknown;
      groupId?: unknown;
    };
    if (entry.level > kafkajs.logLevel.WARN) return kafkaEvents.clientTraced(log, { broker, groupId }, message);
    const { allowed, suppressed } = allow(message);
    if (!allowed) return;
    const fields = {
      namespace: entry.namespace,
      broker,
      groupId,
      error: error instanceof Error ? error.message : error,
      suppressed,
    };
    if (entry.level === kafkajs.logLevel.WARN) kafkaEvents.clientWarned(log, fields, message);
    else kafkaEvents.clientFailed(log, fields, message);
  };
}

export function kafkaConfig(settings: KafkaSettings): KafkaConfig {
  return {
    brokers: [...settings.brokers],
    clientId: settings.clientId,
    connectionTimeout: Math.min(settings.requestTimeoutMs, maxConnectionTimeoutMs),
    requestTimeout: settings.requestTimeoutMs,
    retry,
    logLevel: settings.log.isLevelEnabled('debug') ? kafkajs.logLevel.INFO : kafkajs.logLevel.WARN,
    logCreator: logCreator(settings.log),
    socketFactory: settings.socketFactory ?? directSocket,
    ...(settings.tls === undefined ? {} : { ssl: tlsOptions(settings.tls) }),
    ...(settings.sasl === undefined ? {} : { sasl: saslOptions(settings.sasl) }),
  };
}

export function createClient(settings: KafkaSettings): Kafka {
  repairKafkajs();
  return new kafkajs.Kafka(kafkaConfig(settings));
}

/** A request as kafkajs' connections send it. */
interface RawRequest<Answer> {
  readonly request: {
    readonly apiKey: number;
    readonly apiVersion: number;
    readonly apiName: string;
    readonly expectResponse: () => boolean;
    readonly encode: () => Promise<{ readonly buf: Buffer; readonly buffer: Buffer }>;
  };
  readonly response: {
    readonly decode: (raw: Buffer) => Promise<{ readonly clientSideThrottleTime: number; readonly answer: Answer }>;
    readonly parse: (decoded: { readonly answer: Answer }) => Promise<Answer>;
  };
}

/** The part of kafkajs' Broker (2.2.4, pinned) that its types leave out. */
export interface RawBroker {
  readonly nodeId: string;
  isConnected(): boolean;
  readonly connectionPool: { send<Answer>(request: RawRequest<Answer>): Promise<Answer> };
  initProducerId(request: { transactionTimeout: number }): Promise<{ producerId: string; producerEpoch: number }>;
  heartbeat(request: HeartbeatRequest): Promise<unknown>;
  joinGroup(request: Readonly<Record<string, unknown>>): Promise<unknown>;
  syncGroup(request: { readonly generationId: number; readonly memberId: string }): Promise<unknown>;
  offsetCommit(request: OffsetCommitRequest): Promise<unknown>;
  offsetFetch(request: {
    groupId: string;
    topics: readonly { topic: string; partitions: readonly { partition: number }[] }[];
  }): Promise<{
    responses: readonly {
      topic: string;
      partitions: readonly { partition: number; offset: string; metadata: string | null }[];
    }[];
  }>;
  fetch(request: FetchRequest): Promise<FetchResponse>;
  describeGroups(request: { groupIds: readonly string[] }): Promise<{ groups: readonly { state: string }[] }>;
  leaveGroup(request: { groupId: string; memberId: string }): Promise<unknown>;
  /** By the number of the request; known once it has connected. */
  readonly versions?: Readonly<Record<number, { maxVersion: number }>>;
}

/** A broker of kafkajs as it is: the package is pinned, and what its types leave out is looked for. */
export function rawBroker(broker: unknown): RawBroker {
  if (isRawBroker(broker)) return broker;
  throw topicErrors.create('TOPIC_BROKERS_UNREACHABLE', { got: 'a broker of another kafkajs' });
}

const isRawBroker = (broker: unknown): broker is RawBroker =>
  typeof broker === 'object' && broker !== null && 'heartbeat' in broker;

/** An error and those that kafkajs puts it around, outermost first; with `errors` the first of several, too. */
export function* causesOf(thrown: unknown, options: { readonly errors: boolean }): Generator<object> {
  let current: unknown = thrown;
  for (let depth = 0; depth < 5 && typeof current === 'object' && current !== null; depth += 1) {
    yield current;
    const { cause, originalError, errors }: Wrapped = current;
    current = cause ?? originalError ?? (options.errors ? errors?.[0] : undefined);
  }
}

interface Wrapped {
  readonly cause?: unknown;
  readonly originalError?: unknown;
  readonly errors?: readonly unknown[];
}

export interface HeartbeatRequest {
  readonly groupId: string;
  readonly groupGenerationId: number;
  readonly memberId: string;
}

export interface OffsetCommitRequest {
  readonly groupId: string;
  readonly groupGenerationId: number;
  readonly memberId: string;
  readonly topics: readonly {
    readonly topic: string;
    readonly partitions: readonly {
      readonly partition: number;
      readonly offset: string;
      readonly metadata?: string | null;
    }[];
  }[];
}

export interface FetchRequest {
  readonly maxWaitTime: number;
  readonly minBytes: number;
  readonly maxBytes: number;
  readonly isolationLevel: number;
  readonly rackId: string;
  readonly topics: readonly {
    readonly topic: string;
    readonly partitions: readonly {
      readonly partition: number;
      readonly fetchOffset: string;
      readonly maxBytes: number;
    }[];
  }[];
}

export interface RawMessage {
  readonly offset: string;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly timestamp: string;
  readonly headers?: Readonly<Record<string, Buffer | string | (Buffer | string)[] | undefined>>;
  readonly isControlRecord?: boolean;
}

export interface FetchResponse {
  readonly responses: readonly {
    readonly topicName: string;
    readonly partitions: readonly {
      readonly partition: number;
      readonly highWatermark: string;
      readonly messages: readonly RawMessage[];
    }[];
  }[];
}

/**
 * A cluster (brokers, connections, metadata) of its own. kafkajs hands one out only to a partition assigner, when a
 * consumer is created; that consumer is never run.
 */
export function createCluster(kafka: Kafka): Cluster {
  let cluster: Cluster | undefined;
  kafka.consumer({
    groupId: 'unused',
    allowAutoTopicCreation: false,
    partitionAssigners: [
      (config) => {
        cluster = config.cluster;
        return kafkajs.PartitionAssigners.roundRobin(config);
      },
    ],
  });
  return cluster as unknown as Cluster;
}

export async function leaderOf(cluster: Cluster, topic: string, partition: number): Promise<RawBroker | undefined> {
  const leader = Object.keys(cluster.findLeaderForPartitions(topic, [partition]))[0];
  return leader === undefined ? undefined : rawBroker(await cluster.findBroker({ nodeId: leader }));
}

/** kafkajs asks for fresh metadata when it meets this name; its own class takes no text. */
export const brokerNotFound = (text: string): Error =>
  Object.assign(new Error(text), { name: 'KafkaJSBrokerNotFound' });

/** One that answers: the brokers name one of them as the controller, and that may just have gone. */
export async function anyBroker(cluster: Cluster): Promise<RawBroker> {
  let failure: unknown = brokerNotFound('no brokers are known');
  await cluster.refreshMetadataIfNecessary();
  for (const nodeId of cluster.getNodeIds()) {
    try {
      return rawBroker(await cluster.findBroker({ nodeId: String(nodeId) }));
    } catch (thrown: unknown) {
      failure = thrown;
    }
  }
  throw failure;
}

/** kafkajs keeps a broker whose connection was closed until it is told. */
export function forgetBroker(cluster: Cluster, thrown: unknown): void {
  const { name, host, port } = thrown as { name?: string; host?: string; port?: number };
  if (name !== 'KafkaJSConnectionClosedError' || host === undefined || port === undefined) return;
  try {
    cluster.removeBroker({ host, port });
  } catch {
    // its seed broker is already gone
  }
}

/** The protocol's name of an error, through kafkajs' wrappers. */
export function errorType(thrown: unknown): string {
  for (const error of causesOf(thrown, { errors: true }))
    if ('type' in error && typeof error.type === 'string') return error.type;
  return thrown instanceof Error ? thrown.name : 'Error';
}
