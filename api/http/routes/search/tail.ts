/** Live tail: messages of a search as they come, as server-sent events. */
import type { ServerResponse } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { buildMetrics } from '../../../../core/metrics.js';
import { drained } from '../../../../core/wait.js';
import { errorText, isForAsker, isSluiceError } from '../../../../core/errors.js';
import type { Identity } from '../../../../schemas/access.js';
import { queryText } from '../../../../schemas/api-search.js';
import { auditedQuery, membersOf, someOf } from '../../audited.js';
import type { ApiServer } from '../../contract.js';
import { credentialsOf } from '../../credentials.js';
import { failure } from '../../failure.js';
import { apiMetrics } from '../../metrics.js';
import { messageRow } from '../../search/message-lists.js';
import type { ApiRoutes, ApiServices } from '../../services.js';
import { readableStreams } from '../../stream-ids.js';
import { apiEvents } from '../../../events.js';

/** Proxies close what is silent for a minute. */
const heartbeatMs = 15_000;
/** One whose rights end or change stops seeing messages within this time. */
const checkMs = 30_000;

export const tailRoutes: ApiRoutes = createTailRoutes(checkMs);

export function createTailRoutes(recheckMs: number): ApiRoutes {
  return (app, services) => registerTail(app, services, recheckMs);
}

function registerTail(app: ApiServer, services: ApiServices, recheckMs: number): void {
  const open = new Set<AbortController>();
  const metrics = buildMetrics(services.registry, apiMetrics);
  app.addHook('preClose', async () => open.forEach((ending) => ending.abort()));

  app.get(
    '/api/search/tail',
    {
      exposeHeadRoute: false,
      config: {
        permission: 'authenticated',
        checks: 'shows what may be read',
        audit: 'search:tail',
        audited: ({ query: asked }) => auditedQuery(membersOf(asked)['query'], someOf(asked, ['streams'])),
        produces: ['text/event-stream', 'application/json'],
      },
      schema: {
        summary: 'Live tail',
        tags: ['Search'],
        description:
          'Server-sent events: `message` with {message, index}, oldest first; `skipped` with {messages}: so many the reader was too slow for; `failure` before the end when something goes wrong.',
        querystring: Type.Object({
          query: queryText({ default: '*' }),
          streams: Type.Optional(Type.Array(Type.String({ maxLength: 100 }), { maxItems: 1_000 })),
        }),
        response: { 200: { content: { 'text/event-stream': { schema: Type.String() } } } },
      },
    },
    async (request, reply) => {
      const { query } = request.query;
      // A text that cannot be read is an answer of its own, before the stream begins.
      services.language.parse(query);
      const streams = readableStreams(services, request.identity, request.query.streams);
      if (open.size >= services.config.api.max_tails)
        throw failure('API_BUSY', `${open.size} live tails are open already (api.max_tails).`, {
          headers: { 'retry-after': '30' },
        });
      const ending = new AbortController();
      open.add(ending);
      metrics.tails.set(open.size);
      reply.hijack();
      try {
        await follow(
          {
            services,
            request,
            response: reply.raw,
            ending,
            recheckMs,
            onSkipped: (messages) => metrics.tailSkipped.inc(messages),
          },
          { query, streams },
          Object.fromEntries(Object.entries(reply.getHeaders()).filter(([name]) => name !== 'content-type')),
        );
      } finally {
        open.delete(ending);
        metrics.tails.set(open.size);
        ending.abort();
        reply.raw.end();
      }
      return reply;
    },
  );
}

interface Tail {
  readonly services: ApiServices;
  readonly request: FastifyRequest;
  readonly response: ServerResponse;
  readonly ending: AbortController;
  readonly recheckMs: number;
  readonly onSkipped: (messages: number) => void;
}

async function follow(
  { services, request, response, ending, recheckMs, onSkipped }: Tail,
  question: { readonly query: string; readonly streams: readonly string[] | undefined },
  headers: Readonly<Record<string, unknown>>,
): Promise<void> {
  const { identity } = request;
  response.once('close', () => ending.abort());
  response.writeHead(200, {
    ...(headers as Record<string, string>),
    'content-type': 'text/event-stream; charset=utf-8',
    'x-accel-buffering': 'no',
  });
  response.write('retry: 3000\n\n');
  const beating = setInterval(() => {
    if (!response.writableNeedDrain) response.write(':\n\n');
  }, heartbeatMs);
  const checking = setInterval(
    () =>
      void stillTheSame(services, request, identity).then((same) => {
        if (!same) ending.abort();
      }),
    recheckMs,
  );
  const skipped = (messages: number): void => {
    onSkipped(messages);
    response.write(`event: skipped\ndata: ${JSON.stringify({ messages })}\n\n`);
  };
  try {
    for await (const hits of services.searcher.tail(question, {
      scope: identity.scope,
      signal: ending.signal,
      fairnessKey: identity.username,
      onSkipped: skipped,
    })) {
      const text = hits
        .map((hit) => `id: ${hit._index}/${hit._id}\nevent: message\ndata: ${JSON.stringify(messageRow(hit))}\n\n`)
        .join('');
      if (text !== '' && !response.write(text)) await drained(response, ending.signal);
      if (ending.signal.aborted) break;
    }
  } catch (error) {
    if (ending.signal.aborted) return;
    apiEvents.tailEnded(services.log, { error: errorText(error) });
    const message = isForAsker(error) ? error.message : 'The tail cannot go on at the moment.';
    response.write(`event: failure\ndata: ${JSON.stringify({ type: 'ApiError', message })}\n\n`);
  } finally {
    clearInterval(beating);
    clearInterval(checking);
  }
}

async function stillTheSame({ access }: ApiServices, request: FastifyRequest, before: Identity): Promise<boolean> {
  try {
    const credentials = credentialsOf(request.headers, request.cookies);
    const now = credentials === undefined ? undefined : await access.authenticate(credentials, { address: request.ip });
    return now !== undefined && JSON.stringify(now.scope) === JSON.stringify(before.scope);
  } catch (error) {
    return isSluiceError(error) && error.retryable;
  }
}
