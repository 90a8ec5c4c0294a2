/**
 * Topics as segment files in the data folder: durable at the acknowledgement, consumer groups, retention. For one
 * machine.
 */
import { EmbeddedTopicLog, type EmbeddedTopicLogOptions } from './embedded/embedded-topic-log.js';
import { Type } from 'typebox';
import { bytes } from '../schemas/config/common.js';
import type { TopicLog } from './contract.js';
import { defineTopicLog } from './define.js';

export type { EmbeddedTopicLogOptions };
export { rewriteGroups } from './embedded/group-offsets.js';
export { lockFolder } from './embedded/lock.js';

const settings = Type.Object(
  {
    segment_bytes: bytes('Size of one segment file.', 64 * 2 ** 20),
    reserve_bytes: bytes('Free disk space that is never used: appends are refused before.', 256 * 2 ** 20),
  },
  { additionalProperties: false, default: {}, description: 'Segment files.' },
);

export const embedded = defineTopicLog({
  kind: 'embedded',
  title: 'segment files in the data folder',
  settings,
  shared: false,
  location: (_section, dataFolder) => `${dataFolder}/topics`,
  create: ({ segment_bytes: segmentBytes, reserve_bytes: reserveBytes }, { dataFolder, ...context }) =>
    createEmbeddedTopicLog({ folder: dataFolder, segmentBytes, reserveBytes, ...context }),
});

export interface EmbeddedLog extends TopicLog {
  /** Retention, gauges and a look at the disk at once; the log does it by itself every few seconds. */
  maintain(): Promise<void>;
}

export function createEmbeddedTopicLog(options: EmbeddedTopicLogOptions): EmbeddedLog {
  return new EmbeddedTopicLog(options);
}
