/** Declares a kind of topic logs. Its file has everything about it; `registry.ts` has one line. */
import type { Static, TObject } from 'typebox';
import type { Log } from '../core/log.js';
import type { Registry } from '../core/metrics.js';
import type { TopicsOptions } from '../schemas/config/topics.js';
import type { SectionProblem, TopicLogDescription } from '../schemas/topic-log-kinds.js';
import type { TopicLog } from './contract.js';

export interface TopicLogContext {
  readonly registry: Registry;
  readonly log: Log;
  /** Only reading, beside the process that writes. */
  readonly readOnly?: boolean;
}

interface TopicLogParts extends TopicLogContext {
  readonly dataFolder: string;
}

export interface TopicLogKind extends TopicLogDescription {
  create(topics: TopicsOptions, parts: TopicLogParts): TopicLog;
}

interface Definition<Settings extends TObject> {
  readonly kind: string;
  readonly title: string;
  readonly settings: Settings;
  readonly shared: boolean;
  readonly problems?: (section: Static<Settings>) => readonly SectionProblem[];
  readonly location: (section: Static<Settings>, dataFolder: string) => string;
  readonly create: (section: Static<Settings>, parts: TopicLogParts) => TopicLog;
}

/** Settings come checked against the schema of their kind: the only place where its section gets its type. */
export function defineTopicLog<Settings extends TObject>(definition: Definition<Settings>): TopicLogKind {
  const { kind, problems, location, create } = definition;
  const own = (topics: TopicsOptions): Static<Settings> =>
    (topics as unknown as Readonly<Record<string, Static<Settings>>>)[kind] as Static<Settings>;
  return {
    ...definition,
    problems: (topics) => problems?.(own(topics)) ?? [],
    location: (topics, dataFolder) => location(own(topics), dataFolder),
    create: (topics, parts) => create(own(topics), parts),
  };
}
