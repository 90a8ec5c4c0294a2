/** What `createKafkaTopicLog` is given. */
import type { ISocketFactory } from 'kafkajs';
import type { Log } from '../../core/log.js';
import type { Registry } from '../../core/metrics.js';
import type { ClientTls } from '../../schemas/config/engines.js';
import type { TopicLogCapabilities } from '../contract.js';
import type { Compression } from './records/codecs.js';

export const kafkaCapabilities: TopicLogCapabilities = {
  name: 'kafka',
  shared: true,
  keepsUnread: false,
  deletionBytes: undefined,
  reserveBytes: undefined,
  measuresBytes: false,
};

export interface KafkaSasl {
  readonly mechanism: 'none' | 'plain' | 'scram-sha-256' | 'scram-sha-512';
  readonly username: string;
  readonly password: string;
}

export interface KafkaTopicLogOptions {
  /** Bootstrap brokers, host:port. */
  readonly brokers: readonly string[];
  readonly log: Log;
  readonly registry: Registry;
  readonly clientId?: string;
  readonly compression?: Compression;
  /** Replicas of created topics; 0: three where there are three brokers, else the broker's default. */
  readonly replication?: number;
  readonly sessionTimeoutMs?: number;
  readonly heartbeatMs?: number;
  readonly requestTimeoutMs?: number;
  readonly tls?: ClientTls;
  readonly sasl?: KafkaSasl;
  /** How connections are made; tests put a proxy between. */
  readonly socketFactory?: ISocketFactory;
  /** How long `start` waits for the first broker to answer. */
  readonly startPatienceMs?: number;
  /**
   * Where it is kept which members of their groups the consumers are, so that a killed process is replaced at once.
   * Undefined: nowhere.
   */
  readonly dataFolder?: string;
}

export interface KafkaSettings {
  readonly brokers: readonly string[];
  readonly log: Log;
  readonly registry: Registry;
  readonly clientId: string;
  readonly compression: Compression;
  readonly replication: number;
  readonly sessionTimeoutMs: number;
  readonly heartbeatMs: number;
  readonly requestTimeoutMs: number;
  readonly tls: ClientTls | undefined;
  readonly sasl: KafkaSasl | undefined;
  readonly socketFactory: ISocketFactory | undefined;
  readonly startPatienceMs: number;
  readonly dataFolder: string | undefined;
}

/** An orchestrator may start the brokers together with us. */
const defaultStartPatienceMs = 60_000;

export function kafkaSettings(options: KafkaTopicLogOptions): KafkaSettings {
  return {
    brokers: options.brokers,
    log: options.log,
    registry: options.registry,
    clientId: options.clientId ?? 'sluice',
    compression: options.compression ?? 'lz4',
    replication: options.replication ?? 0,
    sessionTimeoutMs: options.sessionTimeoutMs ?? 6_000,
    heartbeatMs: options.heartbeatMs ?? 500,
    requestTimeoutMs: options.requestTimeoutMs ?? 10_000,
    tls: options.tls?.enabled === true ? options.tls : undefined,
    sasl: options.sasl === undefined || options.sasl.mechanism === 'none' ? undefined : options.sasl,
    socketFactory: options.socketFactory,
    startPatienceMs: options.startPatienceMs ?? defaultStartPatienceMs,
    dataFolder: options.dataFolder,
  };
}
