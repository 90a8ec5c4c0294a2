/** How far a system has come, asked of the topics themselves and not of the programs under test. */
import kafkajs, { type Admin } from 'kafkajs';
import { loadConfig } from '../../../program/settings.js';
import { silentLog } from '../../../core/log.js';
import { Registry } from '../../../core/metrics.js';
import { createTopicLog } from '../../../program/topic-log.js';
import type { Progress } from '../world/world.js';

interface ProgressReader {
  /** Rejects while the topics do not answer. */
  read(): Promise<Progress>;
  close(): Promise<void>;
}

interface Counted {
  readonly end: number;
  readonly lag: number;
}

/** An answer that takes longer says nothing about now. */
const waitMostMs = 3_000;

export function createEmbeddedProgress(settingsFile: string): ProgressReader {
  const { config } = loadConfig({ file: settingsFile, environment: {} });
  const log = createTopicLog(config, { registry: new Registry(), log: silentLog, readOnly: true });
  const count = async (topic: string): Promise<Counted> => {
    const partitions = await log.partitions(topic);
    const committed = await log.committed(config.processing.group, topic);
    return sum(
      partitions.map(({ partition, earliest, logEnd }) => ({
        end: logEnd,
        lag: logEnd - Math.max(earliest, committed.get(partition) ?? 0),
      })),
    );
  };
  return {
    async read() {
      const [logs, deadLetters] = [
        await count(`${config.topics.prefix}logs`),
        await count(`${config.topics.prefix}dead-letters`),
      ];
      return { accepted: logs.end, lag: logs.lag + deadLetters.lag };
    },
    close: () => log.stop(1_000),
  };
}

export function createKafkaProgress(brokers: readonly string[], prefix: string, group: string): ProgressReader {
  const kafka = new kafkajs.Kafka({
    clientId: 'fault-table',
    brokers: [...brokers],
    logLevel: kafkajs.logLevel.NOTHING,
    requestTimeout: waitMostMs,
    connectionTimeout: waitMostMs,
    retry: { retries: 1, initialRetryTime: 50 },
  });
  const count = async (admin: Admin, topic: string): Promise<Counted> => {
    const [ends, [answer]] = await Promise.all([
      admin.fetchTopicOffsets(topic),
      admin.fetchOffsets({ groupId: group, topics: [topic] }),
    ]);
    const committed = new Map((answer?.partitions ?? []).map(({ partition, offset }) => [partition, Number(offset)]));
    return sum(
      ends.map(({ partition, low, high }) => ({
        end: Number(high),
        lag: Number(high) - Math.max(Number(low), committed.get(partition) ?? 0),
      })),
    );
  };
  return {
    /** An admin client of its own each time: one that stays may answer from what it knew before a fault. */
    async read() {
      const admin = kafka.admin();
      try {
        await withPatience(admin.connect());
        const [logs, deadLetters] = await withPatience(
          Promise.all([count(admin, `${prefix}logs`), count(admin, `${prefix}dead-letters`)]),
        );
        return { accepted: logs.end, lag: logs.lag + deadLetters.lag };
      } finally {
        admin.disconnect().catch(() => undefined);
      }
    },
    close: async () => undefined,
  };
}

/** kafkajs may wait for ever for an answer that was cut. */
async function withPatience<Value>(answer: Promise<Value>): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  try {
    return await Promise.race([
      answer,
      new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(new Error('the topics do not answer in time')), waitMostMs);
      }),
    ]);
  } finally {
    clearTimeout(timer);
  }
}

function sum(parts: readonly Counted[]): Counted {
  return {
    end: parts.reduce((total, { end }) => total + end, 0),
    lag: parts.reduce((total, { lag }) => total + Math.max(0, lag), 0),
  };
}
