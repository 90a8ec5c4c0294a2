/** A stored receiver as settings: checked like those of the settings file, with its secrets filled in. */
import { settingName, type ConfigProblem } from '../config/problem.js';
import type { Settings as SettingChecks } from '../config/settings.js';
import type { Config } from '../schemas/config/config.js';
import type { ReceiverOptions } from '../schemas/config/receivers.js';
import type { FieldProblem, RuntimeReceiver } from './contract.js';
import { objectErrors } from './errors.js';
import type { StoredDefinition, StoredDefinitions, Settings } from './stored.js';

type Definition = Pick<StoredDefinition, 'id' | 'definition' | 'secrets'>;

/** What the settings say of receivers; composed by the program from the kinds that it has. */
export type ReceiverChecks = Pick<SettingChecks, 'checkValues' | 'crossCheck' | 'portConflict'>;

interface StoredReceivers {
  /** Those that fit this program; the others were perhaps made by a newer one. */
  list(stored: StoredDefinitions): readonly RuntimeReceiver[];
  /** What is wrong with it, also beside all others. Without its own name in the places. */
  problems(object: Definition, stored: StoredDefinitions): readonly FieldProblem[];
  /**
   * Throws for one that must not even be tried: the workers of one program share the sockets of a port, and would mix
   * up who is asked.
   */
  assertPortFree(options: ReceiverOptions): void;
}

export function createStoredReceivers(config: Config, checks: ReceiverChecks): StoredReceivers {
  /** The list is asked for with each batch of messages, and made anew when definitions change. */
  const lists = new WeakMap<StoredDefinitions, readonly RuntimeReceiver[]>();

  const list = (stored: StoredDefinitions): readonly RuntimeReceiver[] => {
    const known =
      lists.get(stored) ??
      stored.filter(({ kind }) => kind === 'receivers').flatMap((object) => runtimeReceiver(object, checks) ?? []);
    lists.set(stored, known);
    return known;
  };

  return {
    list,
    problems(object, stored) {
      const { options, problems } = optionsOf(object, checks);
      if (problems.length > 0) return problems.map((problem) => fieldOf(problem, 0));
      const others = list(stored)
        .filter(({ id }) => id !== object.id)
        .map((other) => other.options);
      const found = problemsAmong([...config.receivers, ...others, options]);
      // Stopped it takes no port, and one that was made by a version before must be able to be stopped.
      if (object.definition['enabled'] === false) return found.filter(({ field }) => field !== 'port');
      const conflict = checks.portConflict(options, config);
      return conflict === undefined || found.some(({ field }) => field === 'port')
        ? found
        : [...found, { field: 'port', message: `Got ${conflict.got}. Allowed: ${conflict.allowed}.` }];
    },
    assertPortFree(options) {
      const conflict = checks.portConflict(options, config);
      if (conflict !== undefined) throw objectErrors.create('OBJECT_PORT_TAKEN', { place: options.name, ...conflict });
    },
  };

  /** What is wrong with the last of them. */
  function problemsAmong(receivers: readonly ReceiverOptions[]): readonly FieldProblem[] {
    const last = receivers.length - 1;
    const own = settingName(['receivers', last]);
    return checks
      .crossCheck({ ...config, receivers }, () => '')
      .problems.filter(({ setting }) => setting.startsWith(own))
      .map((problem) => fieldOf(problem, last));
  }
}

function runtimeReceiver(stored: Definition, checks: ReceiverChecks): RuntimeReceiver | undefined {
  const { options, problems } = optionsOf(stored, checks);
  if (problems.length > 0) return undefined;
  const { title, enabled } = stored.definition;
  return { id: stored.id, title: typeof title === 'string' ? title : stored.id, enabled: enabled !== false, options };
}

/** What the settings file does not know. */
const ownSettings: readonly string[] = ['id', 'title', 'enabled'];

function optionsOf(
  { id, definition, secrets }: Definition,
  { checkValues }: ReceiverChecks,
): {
  readonly options: ReceiverOptions;
  readonly problems: readonly ConfigProblem[];
} {
  const settings = Object.entries(definition).filter(([name]) => !ownSettings.includes(name));
  let values: Settings = { ...structuredClone(Object.fromEntries(settings)), name: id };
  for (const [name, { value }] of Object.entries(secrets)) values = withSetting(values, name.split('.'), value);
  const receivers = [values];
  const problems = checkValues({ receivers }, () => '');
  return { options: receivers[0] as unknown as ReceiverOptions, problems };
}

function withSetting(settings: Settings, [first = '', ...rest]: readonly string[], value: string): Settings {
  return {
    ...settings,
    [first]: rest.length === 0 ? value : withSetting((settings[first] ?? {}) as Settings, rest, value),
  };
}

function fieldOf({ setting, got, allowed, didYouMean }: ConfigProblem, place: number): FieldProblem {
  const suggestion = didYouMean === undefined ? '' : ` Did you mean ${didYouMean}?`;
  return {
    field: setting.replace(settingName(['receivers', place]), '').replace(/^\./, ''),
    message: `Got ${got ?? 'nothing'}. Allowed: ${allowed ?? 'another value'}.${suggestion}`,
  };
}
