/** A kept receiver as settings: checked as those of the settings file are, with its secrets in their places. */
import { checkValues } from '../config/check.js';
import { crossCheck, portConflict } from '../config/cross-checks.js';
import { settingName, type ConfigProblem } from '../config/problem.js';
import type { Config } from '../schemas/config/config.js';
import type { ReceiverOptions } from '../schemas/config/receivers.js';
import type { FieldProblem } from './check.js';
import { objectErrors } from './errors.js';
import type { StoredDefinition, StoredDefinitions, Settings } from './stored.js';

type Definition = Pick<StoredDefinition, 'id' | 'definition' | 'secrets'>;

export interface RuntimeReceiver {
  readonly id: string;
  readonly title: string;
  /** False: stopped by somebody. */
  readonly enabled: boolean;
  readonly options: ReceiverOptions;
}

/** Undefined: it does not fit this program, perhaps made by a newer one. */
export function runtimeReceiver(kept: Definition): RuntimeReceiver | undefined {
  const { options, problems } = optionsOf(kept);
  if (problems.length > 0) return undefined;
  const { title, enabled } = kept.definition;
  return { id: kept.id, title: typeof title === 'string' ? title : kept.id, enabled: enabled !== false, options };
}

/** Asked for each batch of messages, made anew when objects change. */
const known = new WeakMap<StoredDefinitions, readonly RuntimeReceiver[]>();

export function runtimeReceivers(kept: StoredDefinitions): readonly RuntimeReceiver[] {
  const found =
    known.get(kept) ??
    kept.filter(({ kind }) => kind === 'receivers').flatMap((object) => runtimeReceiver(object) ?? []);
  known.set(kept, found);
  return found;
}

/** What is wrong with it, also beside all others. Without its own name in the places. */
export function receiverProblems(object: Definition, kept: StoredDefinitions, config: Config): readonly FieldProblem[] {
  const { options, problems } = optionsOf(object);
  if (problems.length > 0) return problems.map((problem) => fieldOf(problem, 0));
  const others = runtimeReceivers(kept)
    .filter(({ id }) => id !== object.id)
    .map((other) => other.options);
  const all = { ...config, receivers: [...config.receivers, ...others, options] };
  const place = all.receivers.length - 1;
  const own = settingName(['receivers', place]);
  const found = crossCheck(all, () => '')
    .problems.filter(({ setting }) => setting.startsWith(own))
    .map((problem) => fieldOf(problem, place));
  // Stopped it takes no port, and one that was made by a version before must be able to be stopped.
  if (object.definition['enabled'] === false) return found.filter(({ field }) => field !== 'port');
  const conflict = portConflict(options, config);
  return conflict === undefined || found.some(({ field }) => field === 'port')
    ? found
    : [...found, { field: 'port', message: `Got ${conflict.got}. Allowed: ${conflict.allowed}.` }];
}

/** Throws for one that must not even be tried: the workers of one program share the sockets of a port, and would mix up who is asked. */
export function assertPortFree(options: ReceiverOptions, config: Config): void {
  const conflict = portConflict(options, config);
  if (conflict !== undefined) throw objectErrors.create('OBJECT_PORT_TAKEN', { place: options.name, ...conflict });
}

/** What the settings file does not know. */
const ownSettings: readonly string[] = ['id', 'title', 'enabled'];

function optionsOf({ id, definition, secrets }: Definition): {
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
