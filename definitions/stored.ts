/**
 * Definitions as the state stores them: in the words of rule files and settings, with who created and changed them
 * when.
 */
import { Type, type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import type { Log } from '../core/log.js';
import { formatVersions } from '../core/formats/versions.js';
import { assertVersion } from '../core/formats/stamp.js';
import { definitionEvents } from './events.js';
import type { StateEntry, StateStore } from '../state/contract.js';

export const ruleKinds = ['index-sets', 'streams', 'rules', 'outputs'] as const;
export type RuleKind = (typeof ruleKinds)[number];
/** Of these the rules are made, see `derived.ts`. */
type SourceKind = 'pipeline-rules' | 'pipelines' | 'connections' | 'extractors' | 'grok-patterns';
/** `obfuscation` and `grok-patterns` are one section each, all others are lists. */
export type ObjectKind = RuleKind | SourceKind | 'receivers' | 'obfuscation';

const kinds: readonly ObjectKind[] = [
  ...ruleKinds,
  'pipeline-rules',
  'pipelines',
  'connections',
  'extractors',
  'grok-patterns',
  'receivers',
  'obfuscation',
];

export type Settings = Readonly<Record<string, unknown>>;

const storedSecret = Type.Object({
  value: Type.String(),
  /** Changes with the value: what uses the secret is started anew. */
  version: Type.String(),
});

/** What a put writes. A program that reads it leaves alone what a newer one added. */
const storedValue = Type.Object({
  /** With the id, as it would stand in a rule file, or in `receivers` of the settings. */
  definition: Type.Record(Type.String(), Type.Unknown()),
  /** By the name of the setting, such as `gelf.token`. Never part of the definition: rule sources stay in the state. */
  secrets: Type.Record(Type.String(), storedSecret),
  /** ISO 8601. */
  created_at: Type.String(),
  created_by: Type.String(),
  changed_at: Type.String(),
  changed_by: Type.String(),
  /** Id of the user who created the stream without being an administrator, and may read and edit it. */
  owner_id: Type.Optional(Type.String()),
});

type StoredSecret = Readonly<Static<typeof storedSecret>>;

export interface StoredValue {
  readonly definition: Settings;
  readonly secrets: Readonly<Record<string, StoredSecret>>;
  readonly created_at: string;
  readonly created_by: string;
  readonly changed_at: string;
  readonly changed_by: string;
  readonly owner_id?: string | undefined;
}

export interface StoredDefinition extends StoredValue {
  readonly kind: ObjectKind;
  readonly id: string;
  readonly revision: string;
}

/** Oldest first: the order in which rules run. */
export type StoredDefinitions = readonly StoredDefinition[];

export const objectsPrefix = 'objects/';
const retiredPrefix = `${objectsPrefix}retired/`;
export const sectionId = 'section';
export const isSection = (kind: ObjectKind): boolean => kind === 'obfuscation' || kind === 'grok-patterns';

export const keyOf = (kind: ObjectKind, id: string): string =>
  isSection(kind) ? `${objectsPrefix}${kind}` : `${objectsPrefix}${kind}/${id}`;
export const retiredKey = (kind: ObjectKind, id: string): string => `${retiredPrefix}${kind}/${id}`;

export interface Reading {
  readonly stored: StoredDefinitions;
  /** Keys of ids that belonged to deleted definitions: none of them is given to another one unasked. */
  readonly retired: ReadonlySet<string>;
}

const checkedValue = Compile(storedValue);
const isKind = (text: string): text is ObjectKind => kinds.some((kind) => kind === text);

/** Reads what the state has. An entry that is as it was stays the same object. */
export class StoredReader {
  readonly #state: StateStore;
  readonly #log: Log;
  /** By key; undefined: it does not fit. */
  #known: ReadonlyMap<string, { readonly revision: string; readonly definition: StoredDefinition | undefined }> =
    new Map();

  constructor(state: StateStore, log: Log) {
    this.#state = state;
    this.#log = log;
  }

  /** Throws FORMAT_NEWER. */
  async read(): Promise<Reading> {
    const entries = await this.#state.list(objectsPrefix);
    const isRetired = ({ key }: StateEntry): boolean => key.startsWith(retiredPrefix);
    this.#known = new Map(
      entries
        .filter((entry) => !isRetired(entry))
        .map((entry) => {
          const known = this.#known.get(entry.key);
          return [entry.key, known?.revision === entry.revision ? known : this.#readEntry(entry)];
        }),
    );
    const stored = [...this.#known.values()]
      .flatMap(({ definition }) => definition ?? [])
      .sort((left, right) => compare(left.created_at, right.created_at) || compare(left.id, right.id));
    return { stored, retired: new Set(entries.filter(isRetired).map(({ key }) => key)) };
  }

  #readEntry({ key, value, revision }: StateEntry): {
    readonly revision: string;
    readonly definition: StoredDefinition | undefined;
  } {
    const version = isRecord(value) ? value['format'] : undefined;
    if (typeof version === 'number') assertVersion(formatVersions.objects, version, `state entry ${key}`);
    const [kind = '', ...id] = key.slice(objectsPrefix.length).split('/');
    if (isKind(kind) && checkedValue.Check(value))
      return { revision, definition: { ...value, kind, id: id.join('/') || sectionId, revision } };
    const problem = isKind(kind) ? problemOf(value) : 'It is of no known kind.';
    definitionEvents.definitionLeftOut(this.#log, { object: key.slice(objectsPrefix.length), problem });
    return { revision, definition: undefined };
  }
}

function problemOf(value: unknown): string {
  const [problem] = checkedValue.Errors(value);
  return `${problem?.instancePath ?? ''} ${problem?.message ?? ''}`.trim();
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

function compare(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
