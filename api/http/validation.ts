/** Checks of requests: bodies as they are, query strings and path parameters with texts turned into numbers and booleans. */
import { Ajv, type Options } from 'ajv';
import ajvFormats from 'ajv-formats';
import type { FastifySchemaCompiler } from 'fastify';
import type { TSchema } from 'typebox';

/** Unknown members stay: clients of peers send more than is read here. One error suffices; `allErrors` would let a hostile body cost much. */
const common: Options = { useDefaults: true, removeAdditional: false, allErrors: false, strict: true, strictTypes: false, strictTuples: false, allowUnionTypes: true };

export function createValidatorCompiler(): FastifySchemaCompiler<TSchema> {
  const bodies = new Ajv({ ...common, coerceTypes: false });
  const texts = new Ajv({ ...common, coerceTypes: 'array' });
  for (const ajv of [bodies, texts]) ajvFormats.default(ajv);
  return ({ schema, httpPart }) => {
    if (httpPart !== 'body') return texts.compile(schema);
    const validate = bodies.compile(schema);
    // TypeBox marks what may be left out so; JSON schema has no word for it here.
    if (!('~optional' in schema)) return validate;
    return (value: unknown) => (value === undefined || value === null || validate(value) ? { value } : { error: validate.errors as unknown as Error });
  };
}
