/** Objects that people create, as they are kept in the state: what they define, in the words of the rule files and settings, and who did it when. */
import { formatVersions } from '../core/formats/versions.js';
import { assertVersion } from '../core/formats/stamp.js';
import type { StateEntry, StateStore } from '../state/contract.js';

export const ruleKinds = ['index-sets', 'streams', 'rules', 'outputs'] as const;
export type RuleKind = (typeof ruleKinds)[number];
/** Of these the rules are made, see `derived.ts`. */
export type SourceKind = 'pipeline-rules' | 'pipelines' | 'connections' | 'extractors' | 'grok-patterns';
/** `obfuscation` and `grok-patterns` are one section each, all others are lists. */
export type ObjectKind = RuleKind | SourceKind | 'receivers' | 'obfuscation';

export type Settings = Readonly<Record<string, unknown>>;

export interface StoredSecret {
  readonly value: string;
  /** Changes with the value: what uses the secret is started anew. */
  readonly version: string;
}

/** What a put writes. */
export interface KeptValue {
  /** With the id, as it would stand in a rule file, or in `receivers` of the settings. */
  readonly definition: Settings;
  /** By the name of the setting, such as `gelf.token`; never part of the definition: rule sources are kept with each change. */
  readonly secrets: Readonly<Record<string, StoredSecret>>;
  /** ISO 8601. */
  readonly created_at: string;
  readonly created_by: string;
  readonly changed_at: string;
  readonly changed_by: string;
  /** Of a stream that somebody created without being an administrator: the id of the user, who may read and edit it for as long as it is there. */
  readonly owner_id?: string | undefined;
}

export interface StoredDefinition extends KeptValue {
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
  readonly kept: StoredDefinitions;
  /** Keys of ids that belonged to deleted objects: none of them is given to another one unasked. */
  readonly retired: ReadonlySet<string>;
}

export async function readStored(state: StateStore): Promise<Reading> {
  const entries = await state.list(objectsPrefix);
  const isRetired = ({ key }: StateEntry): boolean => key.startsWith(retiredPrefix);
  const kept = entries
    .filter((entry) => !isRetired(entry))
    .map(keptOf)
    .sort((left, right) => compare(left.created_at, right.created_at) || compare(left.id, right.id));
  return { kept, retired: new Set(entries.filter(isRetired).map(({ key }) => key)) };
}

function keptOf({ key, value, revision }: StateEntry): StoredDefinition {
  const version = (value as { readonly format?: unknown } | null)?.format;
  if (typeof version === 'number') assertVersion(formatVersions.objects, version, `state entry ${key}`);
  const [kind, ...id] = key.slice(objectsPrefix.length).split('/');
  return { ...(value as KeptValue), kind: kind as ObjectKind, id: id.join('/') || sectionId, revision };
}

function compare(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
