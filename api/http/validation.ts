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
  return ({ schema, httpPart }) => (httpPart === 'body' ? bodies : texts).compile(schema);
}
