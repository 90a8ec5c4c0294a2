/**
 * Checks of requests: bodies as they are, query strings and path parameters with texts turned into numbers and
 * booleans.
 */
import { createRequire } from 'node:module';
import { Ajv, type Options, type ValidateFunction } from 'ajv';
import ajvFormats from 'ajv-formats';
import type { FastifySchemaCompiler } from 'fastify';
import type { TSchema } from 'typebox';

/**
 * Unknown members stay: clients of peers send more than is read here. One error suffices; `allErrors` would let a
 * hostile body cost much.
 */
const common: Options = {
  useDefaults: true,
  removeAdditional: false,
  allErrors: false,
  strict: true,
  strictTypes: false,
  strictTuples: false,
  allowUnionTypes: true,
};

/**
 * Each schema is compiled when it is first needed: few of the routes are used in one process, and compiled code takes
 * memory.
 */
export function createValidatorCompiler(): FastifySchemaCompiler<TSchema> {
  const bodies = new Ajv({ ...common, coerceTypes: false });
  const texts = new Ajv({ ...common, coerceTypes: 'array' });
  for (const ajv of [bodies, texts]) ajvFormats.default(ajv);
  return ({ schema, httpPart }) => {
    const ajv = httpPart === 'body' ? bodies : texts;
    // TypeBox marks what may be left out so; JSON schema has no word for it here.
    const optional = httpPart === 'body' && '~optional' in schema;
    let validate: ValidateFunction | undefined;
    return (value: unknown) => {
      if (optional && (value === undefined || value === null)) return { value };
      validate ??= ajv.compile(schema);
      return validate(value) ? { value } : { error: validate.errors as unknown as Error };
    };
  };
}

type Serializer = (value: unknown) => string;
type BuildSerializer = () => (schemas: object, options: object) => (route: { readonly schema: unknown }) => Serializer;

/** Fastify's own serializers, which leave out what the schema does not name, each made when it is first needed. */
export function createSerializerCompiler(): (route: { readonly schema: unknown }) => Serializer {
  const ofFastify = createRequire(createRequire(import.meta.url).resolve('fastify'));
  const compile = (ofFastify('@fastify/fast-json-stringify-compiler') as BuildSerializer)()({}, {});
  return (route) => {
    // An answer without a body would be the four letters of null.
    if ((route.schema as { readonly type?: unknown }).type === 'null') return () => '';
    let serialize: Serializer | undefined;
    return (value) => {
      serialize ??= compile(route);
      return serialize(value);
    };
  };
}
