/** Text of a rule file → its checked data; what is wrong becomes problems. */
import { Ajv, type ErrorObject } from 'ajv';
import { LineCounter, parseDocument, type Document } from 'yaml';
import { toError } from '../../core/errors.js';
import type { RuleFileOutput } from '../../schemas/outputs.js';
import {
  ruleFileSchema,
  type RuleFileIndexSet,
  type RuleFileObfuscation,
  type RuleFileRole,
  type RuleFileRule,
  type RuleFileStream,
} from '../../schemas/rule-files.js';
import { actions } from '../actions/registry.js';
import { conditions } from '../conditions/registry.js';
import { createPlace, didYouMean, shown, type ParsedFile, type Path, type Problem } from '../problems.js';

export interface RuleFile {
  readonly rules?: readonly RuleFileRule[];
  readonly streams?: readonly RuleFileStream[];
  readonly index_sets?: readonly RuleFileIndexSet[];
  readonly outputs?: readonly RuleFileOutput[];
  readonly roles?: readonly RuleFileRole[];
  readonly obfuscation?: RuleFileObfuscation;
}

export const fileSchema = ruleFileSchema({
  conditions: Object.fromEntries(conditions.map((entry) => [entry.name, entry.schema])),
  actions: Object.fromEntries(actions.map((entry) => [entry.name, entry.schema])),
});

const validate = new Ajv({ allErrors: true, verbose: true, allowUnionTypes: true, strict: false }).compile(fileSchema);

/** The file's data when it has the right shape. */
export function parseRuleFile(name: string, text: string, problems: Problem[]): ParsedFile | undefined {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: true, prettyErrors: false });
  for (const error of document.errors) {
    const { line, col } = lines.linePos(error.pos[0]);
    problems.push({
      file: name,
      line: Math.max(1, line),
      column: Math.max(1, col),
      path: '',
      message: yamlMessage(error.code, error.message),
      got: undefined,
      allowed: undefined,
      suggestion: undefined,
    });
  }
  if (document.errors.length > 0) return undefined;
  const data = dataOf(document);
  const file: ParsedFile = { name, document, lines, data };
  if (data instanceof Error) {
    createPlace(file, [], problems).report(`This is no YAML: ${data.message}.`);
    return undefined;
  }
  if (validate(data)) return file;
  reportShape(file, validate.errors ?? [], problems);
  return undefined;
}

/** Aliases without an anchor, and aliases that multiply, show only now. */
function dataOf(document: Document): unknown {
  try {
    return (document.toJS({ maxAliasCount: 100 }) as unknown) ?? {};
  } catch (error) {
    return toError(error);
  }
}

function yamlMessage(code: string, message: string): string {
  return code === 'DUPLICATE_KEY' ? 'The key stands here twice.' : `This is no YAML: ${message}.`;
}

function reportShape(file: ParsedFile, errors: readonly ErrorObject[], problems: Problem[]): void {
  const unions = errors.filter((error) => error.keyword === 'anyOf').map((error) => error.schemaPath);
  const seen = new Set<string>();
  for (const error of errors) {
    if (unions.some((union) => error.schemaPath !== union && error.schemaPath.startsWith(`${union}/`))) continue;
    const key = `${error.instancePath} ${error.keyword} ${JSON.stringify(error.params)}`;
    if (seen.has(key)) continue;
    seen.add(key);
    reportOne(file, error, problems);
  }
}

function reportOne(file: ParsedFile, error: ErrorObject, problems: Problem[]): void {
  const path = pathOf(error.instancePath, file.data);
  const place = createPlace(file, path, problems);
  const params = error.params as Readonly<Record<string, unknown>>;
  const schema = error.parentSchema as
    | {
        readonly properties?: Readonly<Record<string, unknown>>;
        readonly enum?: readonly unknown[];
        readonly description?: string;
      }
    | undefined;
  const keys = Object.keys(schema?.properties ?? {});
  switch (error.keyword) {
    case 'additionalProperties': {
      const key = String(params['additionalProperty']);
      return place.at(key).report('This key means nothing here.', {
        atKey: true,
        got: shown(key),
        allowed: keys.join(', '),
        suggestion: didYouMean(key, keys),
      });
    }
    case 'required':
      return place.report(`The key \`${String(params['missingProperty'])}\` is missing.`, {
        got: shown(error.data),
        allowed: keys.join(', '),
      });
    case 'enum': {
      const allowed = (schema?.enum ?? []).map(String);
      return place.report('The value is none of those allowed.', {
        got: shown(error.data),
        allowed: allowed.join(', '),
        suggestion: didYouMean(String(error.data), allowed),
      });
    }
    case 'minProperties':
    case 'maxProperties':
      return place.report('Exactly one of these keys is expected; a list item each.', {
        got: shown(error.data),
        allowed: keys.join(', '),
      });
    default:
      return place.report(`The value does not fit: it ${reasonOf(error)}.`, {
        got: shown(error.data),
        allowed: schema?.description,
      });
  }
}

function reasonOf(error: ErrorObject): string {
  if (error.keyword === 'type') return `must be of type ${String((error.params as { type?: unknown }).type)}`;
  if (error.keyword === 'anyOf') return 'is of another kind';
  if (error.keyword === 'const') return `must be ${shown((error.params as { allowedValue?: unknown }).allowedValue)}`;
  return error.message ?? 'is wrong';
}

/** JSON pointer → path; numbers where the data has a list. */
function pathOf(pointer: string, data: unknown): Path {
  const path: (string | number)[] = [];
  let current: unknown = data;
  for (const part of pointer.split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    path.push(Array.isArray(current) ? Number(key) : key);
    current = (current as Readonly<Record<string, unknown>> | undefined)?.[key];
  }
  return path;
}
