/**
 * Definitions that people make through the API. They are checked together with the files, then stored in the state, and
 * are part of the rules of every process within about a second.
 */
import { randomBytes } from 'node:crypto';
import { errorText, isSluiceError } from '../core/errors.js';
import type { Log } from '../core/log.js';
import type { RuleCompiler } from '../rules/compile/compiler.js';
import type { RuleSource } from '../rules/contract.js';
import type { StateStore } from '../state/contract.js';
import { describeProblems, invalid, newProblems, type Checking } from './check.js';
import type { DefinitionWriter, FieldProblem, WantedDefinition } from './contract.js';
import { definitionEvents } from './events.js';
import { objectErrors } from './errors.js';
import {
  isSection,
  keyOf,
  objectsPrefix,
  retiredKey,
  StoredReader,
  type StoredDefinition,
  type StoredDefinitions,
  type ObjectKind,
  type Reading,
} from './stored.js';
import { environmentOf } from './rule-files.js';

/** More are no longer made by hand. The state stores the source of all rules with each change, at most 8 MiB. */
const maxObjects = 1_000;
const maxObjectBytes = 64 * 1024;
/** All grok patterns together. */
const maxPatternsBytes = 256 * 1024;
/** A reading that failed is repeated. */
const retryMs = 2_000;

interface ApiDefinitionsOptions {
  readonly state: StateStore;
  /** The rule files, without objects. */
  readonly readFiles: () => Promise<RuleSource>;
  readonly compiler: RuleCompiler;
  /** Checks what is no rule, beside everything that is stored. */
  readonly check?:
    | ((
        object: Pick<StoredDefinition, 'kind' | 'id' | 'definition' | 'secrets'>,
        stored: StoredDefinitions,
      ) => readonly FieldProblem[])
    | undefined;
  /** Resolves when this process has taken a change over. */
  readonly applied?: () => Promise<void>;
  readonly log: Log;
  readonly now?: () => number;
}

interface Change {
  readonly kind: ObjectKind;
  readonly id: string;
  /** Name of the user. */
  readonly by: string;
}

export class ApiDefinitions implements DefinitionWriter {
  readonly #options: ApiDefinitionsOptions;
  readonly #reader: StoredReader;
  readonly #listeners = new Set<() => void>();
  /** Of the program, with the secrets of outputs beside it. */
  readonly environment: Record<string, string | undefined> = { ...process.env };
  #reading: Reading = { stored: [], retired: new Set() };
  #turn: Promise<unknown> = Promise.resolve();
  #unwatch: () => void = () => undefined;
  #retry: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(options: ApiDefinitionsOptions) {
    this.#options = options;
    this.#reader = new StoredReader(options.state, options.log);
  }

  async start(): Promise<void> {
    await this.refresh();
    this.#unwatch = this.#options.state.watch(objectsPrefix, () => this.#refreshSoon());
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#unwatch();
    clearTimeout(this.#retry);
    await this.#turn.catch(() => undefined);
  }

  get stored(): StoredDefinitions {
    return this.#reading.stored;
  }

  find(kind: ObjectKind, id: string): StoredDefinition | undefined {
    return this.stored.find((object) => object.kind === kind && object.id === id);
  }

  /** An object of this kind has, or had, this id. */
  wasUsed(kind: ObjectKind, id: string): boolean {
    return this.find(kind, id) !== undefined || this.#reading.retired.has(retiredKey(kind, id));
  }

  /** Calls back after each change, whoever made it. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Rejects with OBJECT_EXISTS, OBJECT_INVALID, OBJECT_LIMIT or OBJECT_CONFLICT; then nothing is stored. */
  create(kind: ObjectKind, id: string, wanted: WantedDefinition, by: string): Promise<StoredDefinition> {
    return this.#write(async () => {
      if (this.find(kind, id) !== undefined) throw objectErrors.create('OBJECT_EXISTS', { place: id });
      if (this.stored.filter((object) => object.kind === kind).length >= maxObjects)
        throw objectErrors.create('OBJECT_LIMIT', { place: kind, got: `${maxObjects} objects` });
      return this.#put({ kind, id, by }, undefined, wanted);
    });
  }

  /** Makes it when it is not there: of what ships, only changes are stored. */
  change(
    kind: ObjectKind,
    id: string,
    change: (before: StoredDefinition | undefined) => WantedDefinition,
    by: string,
  ): Promise<StoredDefinition> {
    return this.#write(() => {
      const before = this.find(kind, id);
      return this.#put({ kind, id, by }, before, change(before));
    });
  }

  remove(kind: ObjectKind, id: string, by: string): Promise<void> {
    return this.#write(async () => {
      const { state } = this.#options;
      const before = this.find(kind, id);
      if (before === undefined) throw objectErrors.create('OBJECT_UNKNOWN', { place: id });
      await this.#assertFits(
        before,
        this.stored.filter((object) => object !== before),
      );
      const retired = retiredKey(kind, id);
      if (!isSection(kind) && !this.#reading.retired.has(retired))
        await state.put(retired, { at: this.#now(), by }, undefined).catch(ignoreConflict);
      await state.delete(keyOf(kind, id), before.revision);
      if (await this.#stillFits([before])) return;
      await state.put(keyOf(kind, id), valueOf(before), undefined);
      throw objectErrors.create('OBJECT_CONFLICT', { place: id });
    });
  }

  /** What the state has now. */
  async refresh(): Promise<void> {
    const reading = await this.#reader.read();
    const before = this.stored;
    const changed =
      reading.stored.length !== before.length || reading.stored.some((definition, at) => definition !== before[at]);
    this.#reading = reading;
    if (!changed) return;
    const secrets = environmentOf(reading.stored);
    for (const name of Object.keys(this.environment))
      if (name.startsWith('SLUICE_OBJECT_') && !(name in secrets)) delete this.environment[name];
    Object.assign(this.environment, secrets);
    for (const listener of this.#listeners) listener();
  }

  #refreshSoon(): void {
    if (this.#stopped) return;
    clearTimeout(this.#retry);
    this.#turn = this.#turn
      .catch(() => undefined)
      .then(() => this.refresh())
      .catch((error: unknown) => {
        definitionEvents.definitionsUnread(this.#options.log, { error: errorText(error) });
        if (!this.#stopped) this.#retry = setTimeout(() => this.#refreshSoon(), retryMs).unref();
      });
  }

  /** One change after the other; each sees what the state has now. */
  async #write<Result>(run: () => Promise<Result>): Promise<Result> {
    const turn = this.#turn
      .catch(() => undefined)
      .then(async () => {
        await this.refresh();
        try {
          return await run();
        } catch (error) {
          if (isSluiceError(error) && error.code === 'STATE_CONFLICT')
            throw objectErrors.create('OBJECT_CONFLICT', { cause: error });
          throw error;
        } finally {
          await this.refresh();
        }
      });
    this.#turn = turn;
    const result = await turn;
    await this.#options.applied?.();
    return result;
  }

  async #put(
    { kind, id, by }: Change,
    before: StoredDefinition | undefined,
    { definition, secrets, ownerId }: WantedDefinition,
  ): Promise<StoredDefinition> {
    const { state } = this.#options;
    const at = new Date(this.#now()).toISOString();
    const value = {
      definition,
      secrets: secretsOf(before, secrets),
      created_at: before?.created_at ?? at,
      created_by: before?.created_by ?? by,
      changed_at: at,
      changed_by: by,
      ...owned(before === undefined ? ownerId : before.owner_id),
    };
    const bytes = Buffer.byteLength(JSON.stringify(value));
    const allowed = kind === 'grok-patterns' ? maxPatternsBytes : maxObjectBytes;
    if (bytes > allowed)
      throw objectErrors.create('OBJECT_LIMIT', { place: id, got: `${bytes} bytes`, allowed: `${allowed} bytes` });
    const object: StoredDefinition = { ...value, kind, id, revision: '' };
    const after =
      before === undefined ? [...this.stored, object] : this.stored.map((other) => (other === before ? object : other));
    await this.#assertFits(object, after);
    const { revision } = await state.put(keyOf(kind, id), value, before?.revision);
    await this.#assertStillFits({ ...object, revision }, before);
    return { ...object, revision };
  }

  async #assertFits(changed: StoredDefinition, after: StoredDefinitions): Promise<void> {
    const problems = newProblems(await this.#checking(), this.stored, after);
    const others = after.includes(changed) ? (this.#options.check?.(changed, after) ?? []) : [];
    if (problems.length + others.length > 0) throw invalid([...others, ...describeProblems(problems, changed, after)]);
  }

  async #assertStillFits(object: StoredDefinition, before: StoredDefinition | undefined): Promise<void> {
    const { state } = this.#options;
    if (await this.#stillFits(before === undefined ? [] : [before], object)) return;
    const key = keyOf(object.kind, object.id);
    if (before === undefined) await state.delete(key, object.revision);
    else await state.put(key, valueOf(before), object.revision);
    throw objectErrors.create('OBJECT_CONFLICT', { place: object.id });
  }

  /** Another process may have stored something meanwhile that does not go together with this change. */
  async #stillFits(wereThere: StoredDefinitions, changed?: StoredDefinition): Promise<boolean> {
    const { stored } = await this.#reader.read();
    const others = stored.filter(({ kind, id }) => kind !== changed?.kind || id !== changed.id);
    return newProblems(await this.#checking(), [...others, ...wereThere], stored).length === 0;
  }

  async #checking(): Promise<Checking> {
    const { compiler, readFiles } = this.#options;
    return { compiler, files: await readFiles() };
  }

  #now(): number {
    return (this.#options.now ?? Date.now)();
  }
}

function valueOf({
  definition,
  secrets,
  created_at: createdAt,
  created_by: createdBy,
  changed_at: changedAt,
  changed_by: changedBy,
  owner_id: ownerId,
}: StoredDefinition): object {
  return {
    definition,
    secrets,
    created_at: createdAt,
    created_by: createdBy,
    changed_at: changedAt,
    changed_by: changedBy,
    ...owned(ownerId),
  };
}

const owned = (ownerId: string | undefined): { readonly owner_id?: string } =>
  ownerId === undefined ? {} : { owner_id: ownerId };

/** A secret that stays the same keeps its version. */
function secretsOf(
  before: StoredDefinition | undefined,
  wanted: Readonly<Record<string, string>> | undefined,
): StoredDefinition['secrets'] {
  if (wanted === undefined) return before?.secrets ?? {};
  return Object.fromEntries(
    Object.entries(wanted).map(([name, value]) => {
      const known = before?.secrets[name];
      return [name, known?.value === value ? known : { value, version: randomBytes(4).toString('hex') }];
    }),
  );
}

function ignoreConflict(error: unknown): void {
  if (!isSluiceError(error) || error.code !== 'STATE_CONFLICT') throw error;
}
