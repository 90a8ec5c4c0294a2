/** Reads the shipped and the operator's rule files, in the order they apply. */
import { createHash } from 'node:crypto';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { currentVersion, formatVersions } from '../../core/formats/versions.js';
import { packageRoot } from '../../core/process/package-root.js';
import type { RuleSource } from '../contract.js';
import { rulesErrors } from '../errors.js';

/** The source is kept with each epoch; beyond this it is no longer text that people wrote. */
const maxFiles = 1_000;
const maxSourceBytes = 8 * 2 ** 20;

interface ReadOptions {
  /** Begin with the rule files that ship. */
  readonly defaults: boolean;
}

/** Files end in .yaml or .yml and are taken in the order of their names; a folder that does not exist is empty. */
export async function readRuleSource(folder: string, options: ReadOptions = { defaults: true }): Promise<RuleSource> {
  const shipped = options.defaults ? await readShipped() : [];
  const own = await readFolder(folder, '');
  return { files: [...shipped, ...own] };
}

let shippedFiles: Promise<RuleSource['files']> | undefined;

/** They belong to the program and are read once. */
function readShipped(): Promise<RuleSource['files']> {
  shippedFiles ??= readFolder(join(packageRoot, 'rules', 'defaults'), 'defaults/').catch((error: unknown) => {
    shippedFiles = undefined;
    throw error;
  });
  return shippedFiles;
}

async function readFolder(folder: string, prefix: string): Promise<RuleSource['files']> {
  const names = (await listFolder(folder)).filter((name) => /^[^.].*\.ya?ml$/.test(name)).sort();
  if (names.length > maxFiles)
    throw rulesErrors.create('RULES_FILE_TOO_LARGE', {
      place: folder,
      got: `${names.length} files`,
      allowed: `${maxFiles} files`,
    });
  const files: { name: string; text: string }[] = [];
  let total = 0;
  for (const name of names) {
    const text = await readText(join(folder, name));
    total += text.length;
    if (total > maxSourceBytes)
      throw rulesErrors.create('RULES_FILE_TOO_LARGE', {
        place: join(folder, name),
        got: `${total} characters so far`,
        allowed: `${maxSourceBytes} characters in all files`,
      });
    files.push({ name: `${prefix}${name}`, text });
  }
  return files;
}

async function listFolder(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw rulesErrors.create('RULES_FILE_UNREADABLE', { place: folder, cause: error });
  }
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw rulesErrors.create('RULES_FILE_UNREADABLE', { place: path, cause: error });
  }
}

/**
 * First 12 hexadecimal characters of the SHA-256 of names and texts, and of the version of the rule language: the same
 * text may mean something else in another one.
 */
export function versionOf(source: RuleSource): string {
  const hash = createHash('sha256');
  const language = currentVersion(formatVersions.ruleLanguage);
  if (language > 1) hash.update(`language ${language}\0`);
  for (const { name, text } of source.files) hash.update(`${name}\0${text}\0`);
  return hash.digest('hex').slice(0, 12);
}
