/** `sluice.yaml` with `SLUICE_*` over it → one checked object. Three passes: shape, references, cross checks. */
import { existsSync } from 'node:fs';
import { basename, dirname, relative, resolve } from 'node:path';
import type { Config } from '../schemas/config/config.js';
import type { CheckValues, PlaceOf } from './check.js';
import type { CrossChecks } from './cross-checks.js';
import { fileVariable, normaliseValues, overlayEnvironment, overlaySettings, type Environment } from './environment.js';
import { configErrors } from './errors.js';
import { problemLines, type ConfigProblem } from './problem.js';
import { resolveReferences } from './references.js';
import { isRecord, type SettingSchema } from './schema.js';
import { readSettingsFile, type SettingsSource } from './source.js';

const defaultFile = 'sluice.yaml';

export interface LoadOptions {
  /**
   * Settings file; one that is named and missing is an error. Default: SLUICE_CONFIG, else `sluice.yaml` in `folder`
   * when there is one.
   */
  readonly file?: string | undefined;
  /** Usually process.env. */
  readonly environment: Environment;
  /** Settings by dotted name, over file and environment: `{ 'topics.kind': 'kafka' }`. */
  readonly overrides?: Readonly<Record<string, unknown>> | undefined;
  /**
   * Where the default file is looked for, and where relative paths start without a file. Default: the working folder.
   */
  readonly folder?: string | undefined;
}

export interface LoadedConfig {
  readonly config: Config;
  /** Files that were read: the settings file first, then secrets. */
  readonly files: readonly string[];
  readonly warnings: readonly string[];
}

export interface ConfigReading {
  /** Undefined when there are problems. */
  readonly loaded: LoadedConfig | undefined;
  readonly problems: readonly ConfigProblem[];
}

/** What settings are read with. */
interface SettingChecks {
  readonly schema: SettingSchema;
  readonly checkValues: CheckValues;
  readonly crossCheck: (config: Config, place: PlaceOf) => CrossChecks;
}

/** Throws CONFIG_INVALID whose text names every problem, a line each. */
export function loadConfig(options: LoadOptions, checks: SettingChecks): LoadedConfig {
  const { loaded, problems } = readConfig(options, checks);
  if (loaded !== undefined) return loaded;
  const lines = problemLines(problems)
    .map((line) => `\n  ${line}`)
    .join('');
  throw configErrors.create('CONFIG_INVALID', {
    got: `${problems.length === 1 ? 'a problem' : `${problems.length} problems`}:${lines.replace(/\.$/, '')}`,
  });
}

/** Never throws for what stands in settings; opens nothing but the named files. */
export function readConfig(options: LoadOptions, { schema, checkValues, crossCheck }: SettingChecks): ConfigReading {
  const folder = options.folder ?? process.cwd();
  const named = options.file ?? (options.environment[fileVariable] || undefined);
  const file = resolve(folder, named ?? defaultFile);
  const present = named !== undefined || existsSync(file);
  const source: SettingsSource = present
    ? readSettingsFile(file)
    : { values: {}, place: () => 'the defaults', problems: [] };
  if (source.problems.length > 0)
    return {
      loaded: undefined,
      problems: source.problems.map((problem) => ({ ...problem, place: shortPlace(problem.place, folder) })),
    };
  const { values } = source;
  const environment = overlayEnvironment(schema, values, options.environment);
  const overrides = overlaySettings(schema, values, options.overrides ?? {});
  const place = placeFinder(source, [overrides.places, environment.places], folder);
  normaliseValues(schema, values);
  const problems = [...environment.problems, ...overrides.problems, ...checkValues(values, place)];
  if (problems.length > 0) return { loaded: undefined, problems };
  const files = present ? [file] : [];
  resolveReferences(schema, values, {
    folder: present ? dirname(file) : folder,
    environment: options.environment,
    place,
    problems,
    files,
  });
  const config = values as unknown as Config;
  const cross = crossCheck(config, place);
  problems.push(...cross.problems);
  return problems.length > 0
    ? { loaded: undefined, problems }
    : { loaded: { config, files, warnings: cross.warnings }, problems };
}

/** The variable or override that set the value or a part above it, else the place in the file. */
function placeFinder(
  source: SettingsSource,
  overlays: readonly ReadonlyMap<string, string>[],
  folder: string,
): PlaceOf {
  return (path, ofKey) => {
    for (let length = path.length; length > 0; length -= 1) {
      const key = path.slice(0, length).join('/');
      for (const places of overlays) {
        const name = places.get(key);
        if (name !== undefined) return name;
      }
    }
    return shortPlace(source.place(path, ofKey), folder);
  };
}

function shortPlace(place: string, folder: string): string {
  if (!place.startsWith('/')) return place;
  const short = relative(folder, place);
  return short.startsWith('..') ? place : short === '' ? basename(place) : short;
}

/** A value with secrets replaced, for people to see. */
export function hideSecrets(schema: SettingSchema, value: unknown): unknown {
  if (schema.secret === true) return value === '' ? '' : '<hidden>';
  if (Array.isArray(value))
    return value.map((one: unknown) => (schema.items === undefined ? one : hideSecrets(schema.items, one)));
  if (!isRecord(value)) return value;
  const properties = (schema.variants?.[String(value['type'])] ?? schema).properties ?? {};
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [
      key,
      properties[key] === undefined ? one : hideSecrets(properties[key], one),
    ]),
  );
}
