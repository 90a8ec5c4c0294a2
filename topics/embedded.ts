/** Topics as segment files in the data folder: durable at the acknowledgement, consumer groups, retention. For one machine. */
import { EmbeddedTopicLog, type EmbeddedTopicLogOptions } from './embedded/embedded-topic-log.js';
import type { TopicLog } from './contract.js';

export type { EmbeddedTopicLogOptions };
export { rewriteGroups } from './embedded/group-offsets.js';
export { lockFolder } from './embedded/lock.js';
export type { EmbeddedFaults } from './embedded/segment-files.js';

export interface EmbeddedLog extends TopicLog {
  /** Retention, gauges and a look at the disk at once; the log does it by itself every few seconds. */
  maintain(): Promise<void>;
}

export function createEmbeddedTopicLog(options: EmbeddedTopicLogOptions): EmbeddedLog {
  return new EmbeddedTopicLog(options);
}
