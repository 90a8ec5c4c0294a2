/**
 * The served description of the API as tests use it: its operations, and whether an answer is one that it describes.
 */
import { createRequire } from 'node:module';
import type { ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';

export type Schema = Readonly<Record<string, unknown>>;

interface DescribedResponse {
  readonly description: string;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
}

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly required?: boolean;
  readonly schema: Schema;
}

export interface Operation {
  readonly id: string;
  readonly method: string;
  /** `/api/streams/{streamId}` */
  readonly path: string;
  readonly open: boolean;
  readonly parameters: readonly Parameter[];
  readonly body: { readonly required: boolean; readonly schema: Schema } | undefined;
  readonly responses: Readonly<Record<string, DescribedResponse>>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | number | readonly string[] | undefined>>;
  readonly body: string;
}

export interface Description {
  readonly operations: readonly Operation[];
  /** The schema itself, wherever it stands. */
  resolve(schema: Schema): Schema;
  /** The operation that a path leads to; the most literal one of several. */
  find(method: string, path: string): Operation | undefined;
  /** What of an answer is not as described; undefined: nothing. */
  problemOf(operation: Operation, answer: Answer): string | undefined;
}

interface Document {
  readonly paths: Readonly<
    Record<
      string,
      Readonly<
        Record<
          string,
          {
            readonly operationId: string;
            readonly security: readonly unknown[];
            readonly parameters?: readonly Parameter[];
            readonly responses: Readonly<Record<string, DescribedResponse>>;
            readonly requestBody?: {
              readonly required: boolean;
              readonly content: Readonly<Record<string, { readonly schema: Schema }>>;
            };
          }
        >
      >
    >
  >;
}

export function readDescription(document: Document): Description {
  const resolve = <Kind extends object>(value: Kind): Kind => {
    const reference = (value as { readonly $ref?: string }).$ref;
    return reference === undefined
      ? value
      : (reference
          .slice(2)
          .split('/')
          .reduce<unknown>((at, name) => (at as Record<string, unknown>)[name], document) as Kind);
  };
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, { operationId: id, security, parameters = [], requestBody, responses }]): Operation => ({
        id,
        method: method.toUpperCase(),
        path,
        open: security.length === 0,
        parameters,
        body:
          requestBody === undefined
            ? undefined
            : { required: requestBody.required, schema: requestBody.content['application/json']?.schema ?? {} },
        responses: Object.fromEntries(
          Object.entries(responses).map(([status, response]) => [status, resolve(response)]),
        ),
      }),
    ),
  );
  const validate = createValidators(document);
  return {
    operations,
    resolve,
    find: (method, path) =>
      operations
        .filter((operation) => operation.method === method && leadsTo(operation.path, path))
        .sort((one, other) => literals(other.path) - literals(one.path))[0],
    problemOf(operation, answer) {
      const status = String(answer.status);
      const key = [status, `${status.charAt(0)}XX`].find((one) => one in operation.responses);
      if (key === undefined) return `the status ${status} is not described`;
      return contentProblem(operation.responses[key] as DescribedResponse, answer, (type, schema) =>
        validate(`${operation.id} ${key} ${type}`, schema, answer.body),
      );
    },
  };
}

const literals = (path: string): number => path.split('/').filter((part) => !part.startsWith('{')).length;

function leadsTo(template: string, path: string): boolean {
  const [wanted, parts] = [template, path.replace(/(?<=.)\/$/, '')].map((text) => text.split('/')) as [
    string[],
    string[],
  ];
  return (
    wanted.length === parts.length &&
    wanted.every((part, at) => (part.startsWith('{') ? parts[at] !== '' : part === parts[at]))
  );
}

function contentProblem(
  { content }: DescribedResponse,
  { headers, body }: Answer,
  validate: (type: string, schema: Schema) => string | undefined,
): string | undefined {
  if (body === '') return undefined;
  if (content === undefined) return 'a body comes where none is described';
  const type = String(headers['content-type'] ?? '').split(';')[0] as string;
  const media = content[type];
  if (media === undefined) return `the media type ${JSON.stringify(type)} is not described`;
  return type === 'application/json' ? validate(type, media.schema) : undefined;
}

function createValidators(document: Document): (key: string, schema: Schema, body: string) => string | undefined {
  const ajv = new Ajv2020({ strict: false, allErrors: false });
  (createRequire(import.meta.url)('ajv-formats') as { default: (ajv: Ajv2020) => void }).default(ajv);
  ajv.addSchema({ $id: 'openapi', components: (document as unknown as { components: unknown }).components });
  const compiled = new Map<string, ValidateFunction>();
  return (key, schema, body) => {
    const validator =
      compiled.get(key) ??
      ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/components', '"openapi#/components')) as Schema);
    compiled.set(key, validator);
    let value: unknown;
    try {
      value = JSON.parse(body);
    } catch {
      return 'the body is no JSON';
    }
    return validator(value) ? undefined : ajv.errorsText(validator.errors, { dataVar: 'answer' });
  };
}
