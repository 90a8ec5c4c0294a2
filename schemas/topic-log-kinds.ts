/**
 * What the rest of the program knows of a kind of topic logs: plain data, declared in the kind's own file in `topics/`.
 */
import type { TopicsOptions, TopicsSection } from './config/topics.js';

export interface TopicLogDescription extends TopicsSection {
  /** Several processes may share its topics. */
  readonly shared: boolean;
  /** What is wrong with its section beyond single settings. */
  problems(topics: TopicsOptions): readonly SectionProblem[];
  /** Where its topics are, for the terminal. */
  location(topics: TopicsOptions, dataFolder: string): string;
}

export interface SectionProblem {
  /** Below its section: `['sasl', 'password']`. */
  readonly path: readonly (string | number)[];
  readonly got: string;
  readonly allowed: string;
}

/** Undefined where the settings were not checked. */
export function topicLogKind<Kind extends TopicLogDescription>(
  kinds: readonly Kind[],
  { kind }: Pick<TopicsOptions, 'kind'>,
): Kind | undefined {
  return kinds.find((candidate) => candidate.kind === kind);
}
