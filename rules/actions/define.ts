/** What an action is. One file each; `registry.ts` lists them. */
import type { Static, TSchema } from 'typebox';
import type { FieldValue, LogDocument } from '../../schemas/messages.js';
import { isProtected, type Value } from '../fields.js';
import type { Obfuscator } from '../obfuscation.js';
import { shown, type Place } from '../problems.js';
import type { RuleTarget } from '../target.js';

export interface Action {
  /** As a person says it: `set team to "payments"`. */
  readonly text: string;
  run(target: RuleTarget): void;
}

export interface ActionPlace extends Place {
  /** Place of the stream in the rule set; reports and answers undefined when there is none. */
  stream(id: string, place: Place): number | undefined;
  /** Routing to this number takes the message out of All messages. */
  readonly leavesDefault: number;
  /** Obfuscator of the patterns of these ids (undefined: all); reports unknown ids. */
  obfuscator(ids: readonly string[] | undefined, replacement: string | undefined, place: Place): Obfuscator;
}

interface ActionExample {
  readonly then: readonly Readonly<Record<string, unknown>>[];
  readonly before: LogDocument;
  /** The document afterwards; undefined: dropped. */
  readonly after: LogDocument | undefined;
  readonly streams?: readonly string[];
}

interface Definition<Schema extends TSchema> {
  readonly name: string;
  readonly description: string;
  readonly schema: Schema;
  readonly example: ActionExample;
  build(options: Static<Schema>, place: ActionPlace): Action;
}

export interface ActionEntry {
  readonly name: string;
  readonly description: string;
  readonly schema: TSchema;
  readonly example: ActionExample;
  build(options: unknown, place: ActionPlace): Action;
}

/** The options have passed the schema before `build` sees them. */
export function defineAction<const Schema extends TSchema>(definition: Definition<Schema>): ActionEntry {
  return { ...definition, build: (options, place) => definition.build(options as Static<Schema>, place) };
}

export const nothing: Action = { text: 'nothing', run: () => undefined };

/** Reports a field that rules may not write. */
export function checkWritable(field: string, place: Place): void {
  if (!isProtected(field)) return;
  place.report('Rules cannot write this field.', {
    got: shown(field),
    allowed:
      field === 'timestamp'
        ? 'any other field; the action `date` sets timestamp'
        : "any field that is not Sluice's own",
  });
}

/** A list counts as its text: only Sluice's own fields are lists, and they do not travel. */
export function asFieldValue(value: Exclude<Value, undefined>): FieldValue {
  return typeof value === 'object' ? value.join(', ') : value;
}
