/** Searches as objects: created, read, run; their results. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Identity } from '../../../../schemas/access.js';
import {
  executeBody,
  jobAnswer,
  jobStatusAnswer,
  searchAnswer,
  searchBody,
  type ExecuteBody,
  type SearchBody,
  type StoredSearch,
} from '../../../../schemas/api-search.js';
import type { ApiServer } from '../../contract.js';
import { failure } from '../../failure.js';
import { executeSearch, withIds } from '../../search/execute.js';
import { createJobs, type Job, type Jobs } from '../../search/jobs.js';
import { createSharedJobs, type SharedJobs } from '../../search/shared-jobs.js';
import { searchWithoutNulls } from '../../search/without-nulls.js';
import { createViewStore, newObjectId, type ViewStore } from '../../search/view-store.js';
import { sharedStateOf, type ApiServices } from '../../services.js';

const tags = ['Search'];
const shows = 'shows what may be read';
const idParameter = Type.Object({ id: Type.String({ maxLength: 64 }) });
const jobParameter = Type.Object({ jobId: Type.String({ maxLength: 64 }) });
/** What a client that waits gives up after. */
const defaultSyncMs = 60_000;
const node = 'sluice';

interface SearchParts {
  readonly services: ApiServices;
  readonly store: ViewStore;
  readonly jobs: Jobs;
  readonly shared: SharedJobs;
}

export function viewsSearchRoutes(app: ApiServer, services: ApiServices): void {
  const { max_searches: maxSearches, max_views: maxViews } = services.config.api;
  const store = createViewStore(services.state, { maxSearches, maxViews });
  const jobs = createJobs(services.log);
  const shared = createSharedJobs({
    jobs,
    log: services.log,
    state: sharedStateOf(services),
    search: (id) => store.search(id),
    run: ({ search, override, now }, identity, signal) =>
      executeSearch({ services, identity, signal, now }, search.queries, override),
  });
  app.addHook('preClose', async () => shared.stop());
  const parts = { services, store, jobs, shared };
  createSearch(app, parts);
  showSearch(app, parts);
  startSearch(app, parts);
  showJob(app, parts);
  cancelJob(app, parts);
  runSearch(app, parts);
  describeParameters(app);
}

function createSearch(app: ApiServer, { store }: SearchParts): void {
  app.post(
    '/api/views/search',
    {
      preValidation: searchWithoutNulls,
      config: {
        permission: 'authenticated',
        checks: 'of an id that is there: its owner, or an administrator',
        audit: 'search:create',
      },
      schema: {
        summary: 'Create a search',
        description: 'A client may choose the id. The same id again overwrites the search of its owner.',
        tags,
        body: searchBody,
        response: { 201: searchAnswer },
      },
    },
    async (request, reply) => {
      const search = storedSearch(request.body, request.identity);
      request.audited = { object: `search=${search.id}` };
      await store.saveSearch(search, request.identity);
      return reply.code(201).send(shown(search));
    },
  );
}

function showSearch(app: ApiServer, { store }: SearchParts): void {
  app.get(
    '/api/views/search/:id',
    {
      config: { permission: 'authenticated' },
      schema: { summary: 'A search', tags, params: idParameter, response: { 200: searchAnswer } },
    },
    async ({ params }) => shown(await existing(store, params.id)),
  );
}

function startSearch(app: ApiServer, { store, shared }: SearchParts): void {
  app.post(
    '/api/views/search/:id/execute',
    {
      config: { permission: 'authenticated', checks: shows, audit: 'search:execute' },
      schema: {
        summary: 'Run a search',
        description: 'Answers at once; the results are found under the job.',
        tags,
        params: idParameter,
        body: Type.Optional(executeBody),
        response: { 201: jobAnswer },
      },
    },
    async (request, reply) => {
      const search = await existing(store, request.params.id);
      const body = request.body as ExecuteBody | undefined;
      request.audited = auditOf(search, body);
      const job = await shared.start(
        {
          search,
          override: body?.global_override,
          now: Date.now(),
          cancelAfterMs: seconds(body?.cancel_after_seconds),
        },
        request.identity,
      );
      return reply.code(201).header('location', `views/search/status/${job.id}`).send(jobShown(job));
    },
  );
}

function showJob(app: ApiServer, { shared }: SearchParts): void {
  app.get(
    '/api/views/search/status/:jobId',
    {
      config: { permission: 'authenticated', checks: 'who began it, or an administrator', audit: 'search:results' },
      schema: {
        summary: 'State and results of a job',
        tags,
        params: jobParameter,
        querystring: Type.Object({ page: Type.Optional(Type.Integer()), per_page: Type.Optional(Type.Integer()) }),
        response: { 200: jobStatusAnswer },
      },
    },
    async (request, reply) => {
      const job = await shared.find(request.params.jobId, request.identity);
      request.audited =
        job.owner === request.identity.username
          ? { recordedBefore: true }
          : { object: `job=${job.id} search=${job.searchId} owner=${job.owner}` };
      return sendJob(reply, job);
    },
  );
}

function cancelJob(app: ApiServer, { shared }: SearchParts): void {
  app.delete(
    '/api/views/search/cancel/:jobId',
    {
      config: { permission: 'authenticated', checks: 'who began it, or an administrator', audit: 'search:cancel' },
      schema: { summary: 'Cancel a job', tags, params: jobParameter, response: { 204: Type.Null() } },
    },
    async (request, reply) => {
      await shared.cancel(request.params.jobId, request.identity);
      return reply.code(204).send(null);
    },
  );
}

function runSearch(app: ApiServer, { services, jobs }: SearchParts): void {
  app.post(
    '/api/views/search/sync',
    {
      preValidation: searchWithoutNulls,
      config: { permission: 'authenticated', checks: shows, audit: 'search:execute' },
      schema: {
        summary: 'Run a search and wait for its results',
        tags,
        querystring: Type.Object({
          timeout: Type.Integer({ minimum: 1, maximum: 300_000, default: defaultSyncMs, description: 'Milliseconds.' }),
        }),
        body: searchBody,
        response: { 200: jobStatusAnswer },
      },
    },
    async (request, reply) => {
      const search = storedSearch(request.body, request.identity);
      request.audited = auditOf(search, undefined);
      const { job, finished } = jobs.start({
        searchId: search.id,
        asker: request.identity,
        run: (signal) =>
          executeSearch({ services, identity: request.identity, signal, now: Date.now() }, search.queries, undefined),
        cancelAfterMs: request.query.timeout,
      });
      const left = (): void => {
        if (!reply.raw.writableFinished) jobs.cancel(job.id, request.identity);
      };
      reply.raw.once('close', left);
      await finished;
      reply.raw.off('close', left);
      return sendJob(reply, job);
    },
  );
}

function describeParameters(app: ApiServer): void {
  app.post(
    '/api/views/search/metadata',
    {
      preValidation: searchWithoutNulls,
      config: { permission: 'authenticated', reads: true },
      schema: {
        summary: 'Parameters that a search uses; there are none',
        tags,
        body: searchBody,
        response: {
          200: Type.Object({
            query_metadata: Type.Record(Type.String(), Type.Unknown()),
            declared_parameters: Type.Object({}),
          }),
        },
      },
    },
    async ({ body }) => ({
      query_metadata: Object.fromEntries(withIds(body).map(({ id }) => [id, { used_parameters_names: [] }])),
      declared_parameters: {},
    }),
  );
}

function storedSearch(body: SearchBody, { username, userId }: Identity): StoredSearch {
  return {
    ...body,
    id: (body.id ?? newObjectId()).toLowerCase(),
    owner: username,
    owner_id: userId,
    created_at: new Date().toISOString(),
    queries: withIds(body),
  };
}

function shown({ id, owner, created_at, queries, parameters }: StoredSearch): {
  id: string;
  owner: string;
  created_at: string;
  queries: unknown[];
  parameters: unknown[];
  requires: object;
  skip_no_streams_check: boolean;
} {
  return {
    id,
    owner,
    created_at,
    queries: [...queries],
    parameters: parameters ?? [],
    requires: {},
    skip_no_streams_check: false,
  };
}

async function existing(store: ViewStore, id: string): Promise<StoredSearch> {
  if (!/^[0-9a-f]{24}$/i.test(id)) throw failure('API_REQUEST_REFUSED', 'An id has 24 hexadecimal characters.');
  const search = await store.search(id.toLowerCase());
  if (search === undefined) throw failure('API_NOT_FOUND', 'There is no such search.');
  return search;
}

/** Longer than a timer can wait is for as long as it can: 24 days. */
const longestMs = 2 ** 31 - 1;
const seconds = (count: number | undefined): number | undefined =>
  count === undefined ? undefined : Math.min(count * 1000, longestMs);

function auditOf(search: StoredSearch, body: ExecuteBody | undefined): NonNullable<FastifyRequest['audited']> {
  const override = body?.global_override;
  return {
    object: `search=${search.id}`,
    details: {
      queries: search.queries.slice(0, 5).map(({ query, timerange, streams }) => ({
        query: override?.query?.query_string ?? query?.query_string ?? '',
        timerange: override?.timerange ?? timerange,
        streams,
      })),
    },
  };
}

function jobShown({ id, searchId, owner, execution }: Job): {
  id: string;
  search_id: string;
  owner: string;
  executing_node: string;
  execution: Job['execution'];
} {
  return { id, search_id: searchId, owner, executing_node: node, execution };
}

/** Results are kept as JSON, and sent as they are. */
function sendJob(reply: FastifyReply, job: Job): FastifyReply {
  const head = JSON.stringify({ ...jobShown(job), progress: job.execution.done ? 100 : 0, errors: [] });
  return reply
    .type('application/json; charset=utf-8')
    .serializer((text: unknown) => text as string)
    .send(`${head.slice(0, -1)},"results":${job.results ?? '{}'}}`);
}
