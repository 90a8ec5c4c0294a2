/** Files and objects of one process: the rules that come of them, and when they change. */
import type { Log } from '../core/log.js';
import type { RuleSource } from '../rules/contract.js';
import { describeRules } from '../rules/language/describe.js';
import { createRuleCompiler, type RuleCompiler } from '../rules/compile/compiler.js';
import { readRuleSource } from '../rules/loading/source.js';
import type { Config } from '../schemas/config/config.js';
import type { ReceiverOptions } from '../schemas/config/receivers.js';
import type { StateStore } from '../state/contract.js';
import { retryWhileStarting } from '../core/retry/retry.js';
import { createCatalogReader } from './catalog.js';
import type { Definitions } from './contract.js';
import { objectErrors } from './errors.js';
import type { StoredDefinitions } from './stored.js';
import { compileWith } from './dry-run.js';
import { createOwnState } from './own-state.js';
import { createRulesLoader, nameOf } from './loader.js';
import { ApiDefinitions } from './api-definitions.js';
import { pipelineProblems } from './graylog/pipeline-problems.js';
import { createStoredReceivers, type ReceiverChecks } from './receiver-options.js';
import { RuleSetOwner } from './rule-set-owner.js';

export interface DefinitionStore extends Definitions {
  start(): Promise<void>;
  stop(deadlineMs: number): Promise<void>;
  /** Throws OBJECT_PORT_TAKEN where the settings file lets something else listen. */
  assertPortFree(options: ReceiverOptions): void;
  /** Of the program, and secrets of outputs. */
  environment(): Readonly<Record<string, string | undefined>>;
  /** Watched from the first load on; files only where the settings say so. */
  readonly ruleSets: RuleSetOwner;
  readonly compileEpoch: RuleCompiler['compileEpoch'];
  onChange(listener: () => void): () => void;
}

interface DefinitionStoreOptions {
  readonly config: Config;
  readonly settings: ReceiverChecks;
  /** Undefined: files only. */
  readonly state: StateStore | undefined;
  /**
   * `shared`: somebody else starts and stops it, and nothing begins before it was read. `own`: of a process that must
   * take or send messages also while the state is away; what it has of objects comes when it answers.
   */
  readonly stateIs: 'shared' | 'own';
  /** Resolves when this process has taken a change over. */
  readonly applied: () => Promise<void>;
  readonly log: Log;
}

export function createDefinitionStore({
  config,
  settings,
  state,
  stateIs,
  applied,
  log,
}: DefinitionStoreOptions): DefinitionStore {
  const { folder, watch } = config.rules;
  const storedReceivers = createStoredReceivers(config, settings);
  let firstFiles: Promise<RuleSource> | undefined;
  /** Where files are not watched, they stay as they were at the start when objects change. */
  const readFiles = (): Promise<RuleSource> => {
    if (watch) return readRuleSource(folder);
    firstFiles ??= readRuleSource(folder);
    return firstFiles;
  };
  const compiler = createRuleCompiler();
  const ending = new AbortController();
  const objects =
    state === undefined
      ? undefined
      : new ApiDefinitions({
          state,
          readFiles,
          compiler,
          log,
          applied,
          check: (object, stored) =>
            object.kind === 'receivers' ? storedReceivers.problems(object, stored) : pipelineProblems(object, stored),
        });
  const stored = (): StoredDefinitions => objects?.stored ?? [];
  const loader = createRulesLoader({ compiler, log, withoutRoles: stateIs === 'own' });
  const onChange = (listener: () => void): (() => void) => objects?.onChange(listener) ?? (() => undefined);
  const ruleSets = new RuleSetOwner({
    loader,
    readFiles,
    watchedFolder: watch ? folder : undefined,
    stored,
    onStoredChange: onChange,
    log,
  });

  const own =
    state === undefined || objects === undefined || stateIs === 'shared'
      ? undefined
      : createOwnState(state, objects, log);

  return {
    async start() {
      if (own !== undefined) own.start();
      else if (objects !== undefined)
        await retryWhileStarting(() => objects.start(), {
          what: 'objects cannot be read yet',
          log,
          signal: ending.signal,
        });
    },
    async stop(deadlineMs) {
      ending.abort();
      await ruleSets.stop();
      await (own === undefined ? objects?.stop() : own.stop(deadlineMs));
    },
    writer() {
      if (objects === undefined) throw objectErrors.create('OBJECTS_UNAVAILABLE');
      return objects;
    },
    stored,
    receivers: () => storedReceivers.list(stored()),
    assertPortFree: storedReceivers.assertPortFree,
    environment: () => objects?.environment ?? process.env,
    catalog: createCatalogReader(readFiles, stored, () => loader.leftOut()),
    obfuscationOfFiles: async () => describeRules(await readFiles())?.obfuscation ?? {},
    leftOut: (kind) => stored().filter((object) => object.kind === kind && loader.leftOut().has(nameOf(object))),
    rulesWith: async (kind, definition) => compileWith(await readFiles(), stored(), kind, definition),
    ruleSets,
    compileEpoch: (source) => compiler.compileEpoch(source),
    onChange,
  };
}
