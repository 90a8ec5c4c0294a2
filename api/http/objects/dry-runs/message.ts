/** Dry runs: what a message meets, without being stored. */
import { Type, type Static } from 'typebox';
import type { FastifyReply } from 'fastify';
import { isSluiceError } from '../../../../core/errors.js';
import { apiIdOf } from '../../../../core/object-ids.js';
import type { MessageDryRun } from '../../../../definitions/contract.js';
import type { RuleSet } from '../../../../rules/contract.js';
import { mayReadStream, type Identity } from '../../../../schemas/access.js';
import { failure } from '../../failure.js';
import type { ApiServices } from '../../services.js';

export const messageBody = {
  message: Type.Unsafe<Readonly<Record<string, unknown>>>({
    type: 'object',
    additionalProperties: true,
    description: 'GELF as a sender sends it, or a message as it is stored.',
  }),
  receiver: Type.Optional(
    Type.String({ maxLength: 200, default: 'gelf-tcp', description: 'Receiver that it came in by.' }),
  ),
};

const verdictSchema = Type.Unsafe<Readonly<Record<string, unknown>>>({
  type: 'object',
  additionalProperties: true,
  description: 'The condition with what the message has there: text, held, found, children.',
});
export const explained = {
  reason: Type.String({ description: 'Why, in words.' }),
  condition: Type.Union([verdictSchema, Type.Null()]),
};
export const streamsOfDryRun = Type.Array(
  Type.Object({ id: Type.String(), name: Type.String(), title: Type.String() }),
  {
    description: 'Streams that the message goes to, as far as the asker may read them.',
  },
);

export function rulesNotLoaded(): Error {
  return failure('API_STARTING', 'The rules are not loaded yet.', { headers: { 'retry-after': '1' } });
}

/** What a message meets with these rules. */
export function dryRunOf(
  { dryRuns }: Pick<ApiServices, 'dryRuns'>,
  rules: RuleSet | undefined,
  {
    message,
    receiver = 'gelf-tcp',
  }: { readonly message: Readonly<Record<string, unknown>>; readonly receiver?: string },
): MessageDryRun {
  if (rules === undefined) throw rulesNotLoaded();
  try {
    return dryRuns.message(rules, Buffer.from(JSON.stringify(message)), receiver);
  } catch (error) {
    if (!isSluiceError(error)) throw error;
    throw failure('API_REQUEST_REFUSED', `This message would be refused: ${error.message}`, {
      body: { code: error.code },
    });
  }
}

export function visibleStreams(
  { explanation: { streams } }: MessageDryRun,
  identity: Identity,
): Static<typeof streamsOfDryRun> {
  return streams
    .filter(({ id, member }) => member && mayReadStream(identity.scope, id))
    .map(({ id, title }) => ({ id: apiIdOf(id), name: id, title }));
}

/** Aborts when the asker has gone, and after the answer. */
export function requestSignal({ raw }: FastifyReply): AbortSignal {
  const controller = new AbortController();
  raw.once('close', () => controller.abort());
  return controller.signal;
}
