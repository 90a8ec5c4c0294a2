/** What the program is made of: the lists of its ports. A test hands in lists of its own. */
import { createSettings, type Settings } from '../config/settings.js';
import type { ReceiverKind } from '../receivers/define.js';
import { receiverKinds } from '../receivers/registry.js';
import type { TopicLogKind } from '../topics/define.js';
import { topicLogKinds } from '../topics/registry.js';

export interface Kinds {
  readonly receivers: readonly ReceiverKind[];
  readonly topicLogs: readonly TopicLogKind[];
  /** Settings with those of these kinds in them. */
  readonly settings: Settings;
}

export function composeKinds({ receivers, topicLogs }: Omit<Kinds, 'settings'>): Kinds {
  return { receivers, topicLogs, settings: createSettings({ receivers, topicLogs }) };
}

export const registeredKinds: Kinds = composeKinds({ receivers: receiverKinds, topicLogs: topicLogKinds });
