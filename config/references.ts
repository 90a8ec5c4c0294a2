/** Secrets and paths: what settings name outside the settings file. */
import { accessSync, constants, readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Environment } from './environment.js';
import { settingName, type ConfigProblem, type SettingPath } from './problem.js';
import { childSchema, isRecord, type SettingSchema } from './schema.js';

/** Secrets are passwords and tokens; a larger file is a mistake. */
const maxSecretBytes = 64 * 2 ** 10;

interface ReferenceContext {
  /** Relative paths start here. */
  readonly folder: string;
  readonly environment: Environment;
  readonly place: (path: SettingPath, ofKey: boolean) => string;
  readonly problems: ConfigProblem[];
  readonly files: string[];
}

/**
 * Resolves `file:` and `env:` of secrets and makes paths absolute, in place. Files that must be there are looked for.
 */
export function resolveReferences(
  schema: SettingSchema,
  value: unknown,
  context: ReferenceContext,
  path: SettingPath = [],
): void {
  if (Array.isArray(value)) {
    value.forEach(
      (one, at) => schema.items !== undefined && resolveReferences(schema.items, one, context, [...path, at]),
    );
    return;
  }
  if (!isRecord(value)) return;
  for (const [key, one] of Object.entries(value)) {
    const child = childSchema(schema, key, value);
    if (child === undefined) continue;
    const here = [...path, key];
    if (typeof one !== 'string' || one === '') resolveReferences(child, one, context, here);
    else if (child.secret === true) value[key] = readSecret(one, context, here);
    else if (isPathName(key))
      value[key] = isReadLater(key, value)
        ? resolve(context.folder, one)
        : readablePath(resolve(context.folder, one), context, here);
  }
}

function isPathName(key: string): boolean {
  return /(?:^|_)(?:file|folder)$/.test(key);
}

/** Folders are made when they are needed, and what is switched off is not read. */
function isReadLater(key: string, parent: Record<string, unknown>): boolean {
  return !key.endsWith('file') || parent['enabled'] === false;
}

function readablePath(path: string, context: ReferenceContext, at: SettingPath): string {
  try {
    accessSync(path, constants.R_OK);
  } catch (thrown) {
    context.problems.push({
      code: 'CONFIG_FILE_REFERENCE',
      place: context.place(at, false),
      setting: settingName(at),
      got: `${path} (${reason(thrown)})`,
      allowed: 'a readable file; relative paths start at the settings file',
      didYouMean: undefined,
    });
  }
  return path;
}

function readSecret(text: string, context: ReferenceContext, at: SettingPath): string {
  const missing = (got: string, allowed: string) => {
    context.problems.push({
      code: 'CONFIG_SECRET_MISSING',
      place: context.place(at, false),
      setting: settingName(at),
      got,
      allowed,
      didYouMean: undefined,
    });
    return '';
  };
  if (text.startsWith('env:')) {
    const name = text.slice(4);
    return (
      context.environment[name] ??
      missing(`env:${name}, which is not set`, 'the name of an environment variable that is set')
    );
  }
  if (!text.startsWith('file:')) return text;
  const file = resolve(context.folder, text.slice(5));
  try {
    if (statSync(file).size > maxSecretBytes)
      return missing(`file:${file}, larger than a secret`, `a file of at most ${maxSecretBytes} bytes`);
    const secret = readFileSync(file, 'utf8').replace(/\r?\n$/, '');
    context.files.push(file);
    return secret;
  } catch (thrown) {
    return missing(`file:${file} (${reason(thrown)})`, 'a readable file; relative paths start at the settings file');
  }
}

function reason(thrown: unknown): string {
  const { code } = thrown as NodeJS.ErrnoException;
  return code === 'ENOENT' ? 'no such file' : code === 'EACCES' ? 'no permission' : (code ?? 'unreadable');
}
