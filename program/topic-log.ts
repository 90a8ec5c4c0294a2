/** The topic log that the settings choose. */
import type { Config } from '../schemas/config/config.js';
import { topicLogKind } from '../schemas/topic-log-kinds.js';
import type { TopicLog } from '../topics/contract.js';
import type { TopicLogContext, TopicLogKind } from '../topics/define.js';
import { topicErrors } from '../topics/errors.js';
import { registeredKinds } from './kinds.js';

function kindOf({ topics }: Pick<Config, 'topics'>, kinds = registeredKinds.topicLogs): TopicLogKind {
  const kind = topicLogKind(kinds, topics);
  if (kind === undefined) throw topicErrors.create('TOPIC_KIND_UNKNOWN', { got: topics.kind });
  return kind;
}

export function createTopicLog(
  config: Pick<Config, 'topics' | 'data_folder'>,
  context: TopicLogContext,
  kinds?: readonly TopicLogKind[],
): TopicLog {
  return kindOf(config, kinds).create(config.topics, { ...context, dataFolder: config.data_folder });
}

/** Whether several processes may share its topics. */
export function sharesTopics(config: Pick<Config, 'topics'>, kinds?: readonly TopicLogKind[]): boolean {
  return kindOf(config, kinds).shared;
}

export function topicsLocation(config: Pick<Config, 'topics' | 'data_folder'>): string {
  return kindOf(config).location(config.topics, config.data_folder);
}
