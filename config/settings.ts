/** Settings for the kinds of parts that a program has: read, checked and described by one schema. */
import { configSchemaOf, type Config, type SettingKinds } from '../schemas/config/config.js';
import type { ReceiverOptions } from '../schemas/config/receivers.js';
import { createCheck, type CheckValues, type PlaceOf } from './check.js';
import { crossCheck, portConflict, type CrossChecks, type PortConflict } from './cross-checks.js';
import {
  hideSecrets,
  loadConfig,
  readConfig,
  type ConfigReading,
  type LoadedConfig,
  type LoadOptions,
} from './load.js';
import { exampleSettings, settingsReference } from './reference.js';
import { settingsSchemaOf, type SettingSchema } from './schema.js';

export interface Settings {
  readonly schema: SettingSchema;
  /** Throws CONFIG_INVALID whose text names every problem, a line each. */
  load(options: LoadOptions): LoadedConfig;
  /** Never throws for what stands in settings; opens nothing but the named files. */
  read(options: LoadOptions): ConfigReading;
  /** Parts of the settings against the schema; fills in defaults. */
  readonly checkValues: CheckValues;
  /** What single settings cannot tell. */
  crossCheck(config: Config, place: PlaceOf): CrossChecks;
  /** What the settings let listen where this receiver would. */
  portConflict(receiver: ReceiverOptions, config: Config): PortConflict | undefined;
  /** The settings with secrets replaced, for people to see. */
  withoutSecrets(config: Config): unknown;
  /** The text of `docs/reference/settings.md`. */
  reference(): string;
  /** The text of `examples/sluice.yaml`. */
  example(): string;
}

/** Engines that one machine does not use; examples/sluice-kafka-opensearch.yaml shows them. */
function sharedSections({ topicLogs }: SettingKinds): string[] {
  return topicLogs.filter(({ shared }) => shared).map(({ kind }) => `topics.${kind}`);
}

export function createSettings(kinds: SettingKinds): Settings {
  const schema = settingsSchemaOf(configSchemaOf(kinds));
  const checks = {
    schema,
    checkValues: createCheck(schema),
    crossCheck: (config: Config, place: PlaceOf) => crossCheck(config, place, kinds),
  };
  return {
    ...checks,
    load: (options) => loadConfig(options, checks),
    read: (options) => readConfig(options, checks),
    portConflict: (receiver, config) => portConflict(receiver, config, kinds),
    withoutSecrets: (config) => hideSecrets(schema, config),
    reference: () => settingsReference(schema),
    example: () => exampleSettings(schema, new Set([...sharedSections(kinds), 'store.opensearch'])),
  };
}
