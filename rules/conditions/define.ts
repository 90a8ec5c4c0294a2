/** What a condition is. One file each; `registry.ts` lists them. */
import type { Static, TSchema } from 'typebox';
import type { LogDocument } from '../../schemas/messages.js';
import type { RuleContext } from '../contract.js';
import type { Place } from '../problems.js';
import type { Requirements } from '../requirement.js';

export interface Condition {
  /** As a person says it: `tag contains "var/log"`. */
  readonly text: string;
  /** The field it looks at, for explanations. */
  readonly field: string | undefined;
  readonly children: readonly Condition[];
  readonly requirements: Requirements;
  test(document: LogDocument, context: RuleContext): boolean;
}

interface ConditionPlace extends Place {
  /** Empty where the condition takes none. */
  readonly field: string;
  readonly ignoreCase: boolean;
  /** Builds the condition that stands at this place below. */
  nested(value: unknown, ...path: readonly (string | number)[]): Condition;
}

export interface ConditionExample {
  readonly when: Readonly<Record<string, unknown>>;
  readonly matches: LogDocument;
  readonly misses: LogDocument | undefined;
}

interface Definition<Schema extends TSchema> {
  readonly name: string;
  readonly description: string;
  readonly takesField: boolean;
  readonly takesIgnoreCase?: boolean;
  readonly schema: Schema;
  readonly example: ConditionExample;
  build(value: Static<Schema>, place: ConditionPlace): Condition;
}

export interface ConditionEntry {
  readonly name: string;
  readonly description: string;
  readonly takesField: boolean;
  readonly takesIgnoreCase: boolean;
  readonly schema: TSchema;
  readonly example: ConditionExample;
  build(value: unknown, place: ConditionPlace): Condition;
}

/** The value has passed the schema before `build` sees it. */
export function defineCondition<const Schema extends TSchema>(definition: Definition<Schema>): ConditionEntry {
  return {
    ...definition,
    takesIgnoreCase: definition.takesIgnoreCase ?? false,
    build: (value, place) => definition.build(value as Static<Schema>, place),
  };
}

export const never: Condition = {
  text: 'never',
  field: undefined,
  children: [],
  requirements: [[]],
  test: () => false,
};
