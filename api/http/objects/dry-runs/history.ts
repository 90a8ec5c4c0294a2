/**
 * Dry run of a condition on what is stored: how many of the newest messages it takes, with samples. Bounded in messages
 * and time, ended with the request.
 */
import type { FastifyRequest } from 'fastify';
import { Type, type Static } from 'typebox';
import { isSluiceError } from '../../../../core/errors.js';
import type { Matcher } from '../../../../definitions/contract.js';
import type { Identity } from '../../../../schemas/access.js';
import type { LogDocument } from '../../../../schemas/messages.js';
import { someOf, type Audited } from '../../audited.js';
import { failure, invalidMembers } from '../../failure.js';
import type { ApiServices } from '../../services.js';

const most = 1_000_000;
const mostSeconds = 120;
/** Each reads as fast as the store gives; searches of people come first. */
const mostAtOnce = 2;

export const historyBody = {
  messages: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: most,
      default: 100_000,
      description: 'How many of the newest messages are read.',
    }),
  ),
  samples: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 100,
      default: 10,
      description: 'Messages that match, of the newest, to show.',
    }),
  ),
  from: Type.Optional(Type.String({ format: 'date-time', description: 'Only messages from this time on.' })),
  to: Type.Optional(Type.String({ format: 'date-time', description: 'Only messages before this time.' })),
  max_seconds: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: mostSeconds,
      default: 30,
      description: 'What was read until then is the answer.',
    }),
  ),
};

export const historyAnswer = Type.Object(
  {
    examined: Type.Integer({ description: 'Messages that were read.' }),
    matched: Type.Integer({ description: 'Messages that the condition takes.' }),
    complete: Type.Boolean({ description: 'False: the time was over before all were read.' }),
    seconds: Type.Number(),
    oldest: Type.Union([Type.String(), Type.Null()], { description: 'Time of the oldest message that was read.' }),
    samples: Type.Array(Type.Object({ index: Type.String(), message: Type.Record(Type.String(), Type.Unknown()) })),
  },
  { description: 'What a condition takes of the messages that are stored, as far as the asker may read them.' },
);

/** The audit record names what was run: the id of a saved stream, else the condition. */
export function auditedHistory({ body }: FastifyRequest): Audited {
  const condition = someOf(body, ['when', 'rules', 'matching_type']);
  return {
    object: Object.keys(condition).length === 0 ? undefined : JSON.stringify(condition),
    details: someOf(body, Object.keys(historyBody)),
  };
}

type HistoryAnswer = Static<typeof historyAnswer>;

interface Asked {
  readonly messages?: number;
  readonly samples?: number;
  readonly from?: string;
  readonly to?: string;
  readonly max_seconds?: number;
}

let running = 0;

/** Who asks for what of the history, and until when. */
interface HistoryRequest {
  readonly asked: Asked;
  readonly identity: Identity;
  readonly signal: AbortSignal;
}

export async function historyDryRun(
  { searcher }: Pick<ApiServices, 'searcher'>,
  matches: Matcher,
  request: HistoryRequest,
): Promise<HistoryAnswer> {
  if (running >= mostAtOnce)
    throw failure('API_BUSY', 'Other conditions are being tried on history at the moment; try again.', {
      headers: { 'retry-after': '5' },
    });
  running += 1;
  try {
    return await read(searcher, matches, request);
  } finally {
    running -= 1;
  }
}

async function read(
  searcher: ApiServices['searcher'],
  matches: Matcher,
  { asked, identity, signal }: HistoryRequest,
): Promise<HistoryAnswer> {
  const { messages = 100_000, samples: wanted = 10, max_seconds: seconds = 30, from, to } = asked;
  const started = performance.now();
  const ending = AbortSignal.timeout(seconds * 1_000);
  const samples: HistoryAnswer['samples'] = [];
  let [examined, matched, complete] = [0, 0, true];
  let oldest: unknown;
  const rows = searcher.rows(
    { query: '', limit: messages, sort: { field: 'timestamp', direction: 'desc' }, ...timesOf({ from, to }) },
    {
      scope: identity.scope,
      signal: AbortSignal.any([signal, ending]),
      fairnessKey: identity.username,
    },
  );
  try {
    for await (const batch of rows) {
      for (const { _id: id, _index: index, document } of batch) {
        examined += 1;
        if (!matches(document as LogDocument, id)) continue;
        matched += 1;
        if (samples.length < wanted) samples.push({ index, message: { _id: id, ...document } });
      }
      oldest = batch.at(-1)?.document['timestamp'] ?? oldest;
      if (ending.aborted && examined < messages) complete = false;
      if (!complete) break;
    }
  } catch (error) {
    if (!ending.aborted || !isSluiceError(error)) throw error;
    complete = false;
  }
  return {
    examined,
    matched,
    complete,
    seconds: Math.round(performance.now() - started) / 1_000,
    oldest: timeText(oldest),
    samples,
  };
}

/** The format of the schema knows leap seconds, which Date does not. */
function timesOf(texts: Readonly<Record<string, string | undefined>>): Readonly<Record<string, number>> {
  return Object.fromEntries(
    Object.entries(texts).flatMap(([name, text]) => {
      if (text === undefined) return [];
      const time = Date.parse(text);
      if (Number.isNaN(time)) throw invalidMembers({ [name]: ['This is no time.'] });
      return [[name, time] as const];
    }),
  );
}

function timeText(time: unknown): string | null {
  if (typeof time !== 'string' && typeof time !== 'number') return null;
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
}
