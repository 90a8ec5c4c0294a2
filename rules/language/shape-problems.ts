/** What a schema says is wrong with a rule file → problems with their places, in words of the file. */
import type { ErrorObject } from 'ajv';
import { createPlace, didYouMean, shown, type LocatedFile, type Path, type Problem } from '../problems.js';

interface CheckedFile extends LocatedFile {
  readonly data: unknown;
}

export function reportShape(file: CheckedFile, errors: readonly ErrorObject[], problems: Problem[]): void {
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

function reportOne(file: CheckedFile, error: ErrorObject, problems: Problem[]): void {
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
