/**
 * The rule set in force in this process: one watch of the files, one subscription to stored definitions, one
 * compilation for one edit.
 */
import { errorText } from '../core/errors.js';
import type { Log } from '../core/log.js';
import type { RuleSet, RuleSetChange, RuleSetFeed, RuleSource } from '../rules/contract.js';
import { versionOf } from '../rules/loading/source.js';
import { watchRuleFiles } from '../rules/loading/watch.js';
import { definitionEvents } from './events.js';
import { withObjects, type RulesLoader } from './loader.js';
import type { StoredDefinitions } from './stored.js';

interface RuleSetOwnerOptions {
  readonly loader: RulesLoader;
  readonly readFiles: () => Promise<RuleSource>;
  /** Undefined: files stay as they were at the start. */
  readonly watchedFolder: string | undefined;
  readonly stored: () => StoredDefinitions;
  readonly onStoredChange: (listener: () => void) => () => void;
  readonly log: Log;
}

export class RuleSetOwner implements RuleSetFeed {
  readonly #options: RuleSetOwnerOptions;
  readonly #subscribers = new Set<(change: RuleSetChange) => void>();
  #current: RuleSet | undefined;
  /** What was refused last: it is told once. */
  #refused: string | undefined;
  #turn: Promise<unknown> = Promise.resolve();
  #unwatch: (() => void)[] | undefined;
  #stopped = false;

  constructor(options: RuleSetOwnerOptions) {
    this.#options = options;
  }

  current(): RuleSet | undefined {
    return this.#current;
  }

  /** The first load begins the watch. */
  load(): Promise<RuleSet> {
    const loaded = this.#turn.catch(() => undefined).then(() => this.#load());
    this.#turn = loaded;
    return loaded;
  }

  subscribe(known: RuleSet, onChange: (change: RuleSetChange) => void): () => void {
    // Two subscriptions of one function stay two.
    const subscriber = (change: RuleSetChange): void => onChange(change);
    this.#subscribers.add(subscriber);
    if (this.#current !== undefined && this.#current.version !== known.version) subscriber({ ruleSet: this.#current });
    return () => void this.#subscribers.delete(subscriber);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#unwatch?.forEach((stop) => stop());
    await this.#turn.catch(() => undefined);
  }

  async #load(): Promise<RuleSet> {
    let state: string | undefined;
    try {
      const files = await this.#options.readFiles();
      const stored = this.#options.stored();
      state = versionOf(withObjects(files, stored));
      const loaded = this.#options.loader.load(files, stored);
      this.#refused = undefined;
      this.#watch(files);
      return this.#take(loaded);
    } catch (error) {
      this.#refuse(error, state ?? errorText(error));
      throw error;
    }
  }

  #take(loaded: RuleSet): RuleSet {
    if (this.#current?.version === loaded.version) return this.#current;
    const isChange = this.#current !== undefined;
    this.#current = loaded;
    if (isChange) this.#tell({ ruleSet: loaded });
    return loaded;
  }

  #refuse(error: unknown, state: string): void {
    if (this.#current === undefined || this.#refused === state) return;
    this.#refused = state;
    definitionEvents.ruleChangeRefused(this.#options.log, {
      error: errorText(error),
      rule_set_version: this.#current.version,
    });
    this.#tell({ refused: error });
  }

  #tell(change: RuleSetChange): void {
    for (const subscriber of this.#subscribers) subscriber(change);
  }

  #watch(files: RuleSource): void {
    if (this.#unwatch !== undefined || this.#stopped) return;
    const { watchedFolder, onStoredChange } = this.#options;
    const changed = (): void => void this.load().catch(() => undefined);
    this.#unwatch = [onStoredChange(changed)];
    if (watchedFolder !== undefined)
      this.#unwatch.push(watchRuleFiles(watchedFolder, changed, { version: versionOf(files) }));
  }
}
