/** The kinds of topic logs, the default first. A new one is a file that defines it and a line here. */
import type { TopicLogKind } from './define.js';
import { embedded } from './embedded.js';
import { kafka } from './kafka.js';

export const topicLogKinds: readonly TopicLogKind[] = [embedded, kafka];
