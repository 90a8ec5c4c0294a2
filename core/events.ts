/**
 * The lines of the log that tell of a happening. A folder declares its events once, as data, with `defineEvents`;
 * the reference page `docs/reference/events.md` is generated from these tables.
 */
import type { Log } from './log.js';

/** What a field holds. A question mark: the field may be absent. */
interface FieldValues {
  readonly text: string;
  readonly number: number;
  readonly boolean: boolean;
  readonly texts: readonly string[];
  readonly numbers: readonly number[];
  readonly object: object;
  /** Whatever a library tells. */
  readonly value: unknown;
}

type FieldKind = keyof FieldValues | `${keyof FieldValues}?`;

interface EventKind {
  /** The event's name where it is not that of its key: one event may be told on two levels. */
  readonly event?: string;
  readonly level: 'debug' | 'info' | 'warn' | 'error' | 'fatal';
  /** `msg` of the line. A function where the sentence has varying parts. */
  readonly message: string | ((...parts: string[]) => string);
  readonly fields?: Readonly<Record<string, FieldKind>>;
}

type OptionalField<Fields> = {
  [Name in keyof Fields]: Fields[Name] extends `${string}?` ? Name : never;
}[keyof Fields];

type ValueOf<Kind> = Kind extends keyof FieldValues
  ? FieldValues[Kind]
  : Kind extends `${infer Bare extends keyof FieldValues}?`
    ? FieldValues[Bare] | undefined
    : never;

type FieldsOf<Fields> = {
  readonly [Name in Exclude<keyof Fields, OptionalField<Fields>>]: ValueOf<Fields[Name]>;
} & { readonly [Name in OptionalField<Fields>]?: ValueOf<Fields[Name]> };

type PartsOf<Kind extends EventKind> = Kind['message'] extends (...parts: infer Parts) => string ? Parts : [];

type FieldArguments<Kind extends EventKind> = Kind extends { readonly fields: infer Fields }
  ? [fields: FieldsOf<Fields>]
  : [];

/** Writes the line of one event: its fields, then the varying parts of its message. */
type Emit<Kind extends EventKind> = (log: Log, ...rest: [...FieldArguments<Kind>, ...PartsOf<Kind>]) => void;

export interface EventDeclaration extends EventKind {
  /** `event` of the line. */
  readonly name: string;
}

/** Where the reference page finds the declaration of an event. */
export const declarationOf = Symbol.for('sluice.event');

/**
 * Declares the events of one folder, by noun and past verb: `batchRejected` writes `"event": "batch_rejected"`.
 * Names are never reused. Events are for batches and rarer things, not for single messages.
 */
export function defineEvents<const Kinds extends Record<string, EventKind>>(
  kinds: Kinds,
): { readonly [Key in keyof Kinds]: Emit<Kinds[Key]> } {
  const entries = Object.entries(kinds).map(([key, kind]) => [key, emitterOf(key, kind)]);
  return Object.fromEntries(entries) as { [Key in keyof Kinds]: Emit<Kinds[Key]> };
}

function emitterOf(key: string, kind: EventKind): object {
  const { level, message, fields } = kind;
  const event = kind.event ?? key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const declaration: EventDeclaration = { ...kind, name: event };
  const emit = (log: Log, ...rest: unknown[]): void => {
    const values = fields === undefined ? {} : rest.shift();
    log[level](
      { event, ...(values as object) },
      typeof message === 'string' ? message : message(...(rest as string[])),
    );
  };
  return Object.assign(emit, { [declarationOf]: declaration });
}
