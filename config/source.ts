/** Reads a settings file and knows where in it each setting stands. */
import { readFileSync, statSync } from 'node:fs';
import { isMap, isPair, isScalar, isSeq, LineCounter, parseDocument, type Document } from 'yaml';
import { errorText } from '../core/errors.js';
import type { ConfigProblem, SettingPath } from './problem.js';
import { isRecord } from './schema.js';

/** Far above any hand-written file; protects from reading a device or a log by mistake. */
const maxFileBytes = 4 * 2 ** 20;

export interface SettingsSource {
  readonly values: Record<string, unknown>;
  /** `file:line:column` of the setting, or of its nearest parent that stands in the file. */
  place(path: SettingPath, ofKey: boolean): string;
  readonly problems: readonly ConfigProblem[];
}

export function readSettingsFile(file: string): SettingsSource {
  const problem = (
    code: ConfigProblem['code'],
    place: string,
    got: string | undefined,
    allowed?: string,
  ): SettingsSource => ({
    values: {},
    place: () => place,
    problems: [{ code, place, setting: '', got, allowed, didYouMean: undefined }],
  });
  let text: string;
  try {
    const { size } = statSync(file);
    if (size > maxFileBytes)
      return problem('CONFIG_FILE_UNREADABLE', file, `${size} bytes`, `at most ${maxFileBytes} bytes`);
    text = readFileSync(file, 'utf8');
  } catch (thrown) {
    const missing = (thrown as NodeJS.ErrnoException).code === 'ENOENT';
    return problem(
      missing ? 'CONFIG_FILE_MISSING' : 'CONFIG_FILE_UNREADABLE',
      file,
      missing ? undefined : errorText(thrown),
      'a readable YAML file',
    );
  }
  return parseSettings(text, file);
}

function parseSettings(text: string, file: string): SettingsSource {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const at = (offset: number) => {
    const { line, col } = lines.linePos(offset);
    return `${file}:${Math.max(line, 1)}:${Math.max(col, 1)}`;
  };
  const place = (path: SettingPath, ofKey: boolean) => at(offsetOf(document, path, ofKey));
  const problems = document.errors.map(
    (error): ConfigProblem => ({
      code: 'CONFIG_YAML_INVALID',
      place: at(error.pos[0]),
      setting: '',
      got: error.message.replace(/\s+/g, ' '),
      allowed: undefined,
      didYouMean: undefined,
    }),
  );
  if (problems.length > 0) return { values: {}, place, problems };
  let values: unknown;
  try {
    values = document.toJS({ maxAliasCount: 100 }) ?? {};
  } catch (thrown) {
    return {
      values: {},
      place,
      problems: [
        {
          code: 'CONFIG_YAML_INVALID',
          place: at(0),
          setting: '',
          got: errorText(thrown),
          allowed: undefined,
          didYouMean: undefined,
        },
      ],
    };
  }
  if (isRecord(values)) return { values, place, problems };
  return {
    values: {},
    place,
    problems: [
      {
        code: 'CONFIG_VALUE_INVALID',
        place: at(0),
        setting: '',
        got: Array.isArray(values) ? 'a list' : typeof values,
        allowed: 'a mapping of settings',
        didYouMean: undefined,
      },
    ],
  };
}

function offsetOf(document: Document, path: SettingPath, ofKey: boolean): number {
  let node: unknown = document.contents;
  let offset = startOf(node) ?? 0;
  for (const [depth, part] of path.entries()) {
    if (isMap(node)) {
      const pair = node.items.find(
        (item) => isPair(item) && String(isScalar(item.key) ? item.key.value : item.key) === String(part),
      );
      if (pair === undefined) return offset;
      const isLast = depth === path.length - 1;
      offset = (ofKey && isLast ? startOf(pair.key) : (startOf(pair.value) ?? startOf(pair.key))) ?? offset;
      node = pair.value;
    } else if (isSeq(node)) {
      node = node.items[Number(part)];
      offset = startOf(node) ?? offset;
    } else return offset;
  }
  return offset;
}

function startOf(node: unknown): number | undefined {
  const range =
    typeof node === 'object' && node !== null && 'range' in node
      ? (node as { range?: readonly number[] | null }).range
      : undefined;
  return range?.[0];
}
