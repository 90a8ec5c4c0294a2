/**
 * Dead letters, for those who may see every message: list, show, replay, drop. The same work as `npx sluice
 * dead-letters`.
 */
import { Type, type Static } from 'typebox';
import { chosen, selectionOf, type DeadLettersBody } from '../../../control/dead-letters.js';
import { someOf, textOf, type Audited } from '../../audited.js';
import type { ApiServer } from '../../contract.js';
import { invalidMembers } from '../../failure.js';
import { found } from '../../objects/changing.js';
import { createJobs, jobRetainedMs, type Job } from '../../objects/long-work/jobs.js';
import { operationsOf } from '../../objects/operations.js';
import { createSharedWork } from '../../objects/long-work/shared-work.js';
import { nothing, nullable } from '../../objects/shapes.js';
import { sharedStateOf, type ApiServices } from '../../services.js';

const tags = ['Dead letters'];
const base = '/api/dead-letters';
const text = (description: string) => Type.Optional(Type.String({ maxLength: 1_000, description }));
const filters = {
  code: text('Code of the error.'),
  reason: text('Words of the reason.'),
  receiver: text('Receiver it came in by.'),
  peer: text('Address of the sender, with or without port.'),
  index_set: text('Index set that refused it.'),
  state: Type.Optional(Type.Enum(['open', 'replayed', 'dropped', 'all'], { description: 'Default: open.' })),
  query: text('Any further condition, as a query text.'),
  from: text('Received from this time on, ISO 8601.'),
  to: text('Received before this time, ISO 8601.'),
};
const listQuery = Type.Object({
  ...filters,
  limit: Type.Optional(Type.Integer({ minimum: 0, maximum: 10_000, default: 100 })),
});
const workBody = Type.Object({
  ...filters,
  ids: Type.Optional(Type.Array(Type.String({ maxLength: 512 }), { maxItems: 10_000 })),
  all: Type.Optional(Type.Boolean({ description: 'Everything that is open; asked for by name.' })),
  limit: Type.Optional(Type.Integer({ minimum: 1, description: 'At most this many.' })),
});
const params = Type.Object({
  letterId: Type.String({ minLength: 1, maxLength: 512, description: 'Id of a dead letter.' }),
});
const jobParams = Type.Object({ jobId: Type.String({ maxLength: 64 }) });
const deadLetterAnswer = Type.Object({
  id: Type.String(),
  index: Type.String(),
  document: Type.Record(Type.String(), Type.Unknown()),
});
const jobAnswer = Type.Object({
  id: Type.String(),
  kind: Type.String(),
  by: Type.String(),
  started_at: Type.String(),
  state: Type.Enum(['running', 'done', 'cancelled', 'failed']),
  progress: Type.Object({ done: Type.Integer(), total: Type.Integer() }),
  report: nullable(Type.Record(Type.String(), Type.Unknown())),
  problem: nullable(Type.String()),
});

const choosing = [...Object.keys(workBody.properties), 'dry_run'];

/** `all`: whether nothing said is everything. */
function auditedDeadLetters(value: unknown, all: boolean): Audited {
  const details = someOf(value, choosing);
  const { query, ids } = details;
  return {
    object: Array.isArray(ids) ? ids.join(' ') : (textOf(query) ?? (all || details['all'] === true ? '*' : undefined)),
    details,
  };
}

type Filters = Pick<Static<typeof workBody>, keyof typeof filters | 'ids' | 'all'>;

/** Times as milliseconds. */
function deadLettersBody({ from, to, ...rest }: Filters): DeadLettersBody {
  const timeOf = (name: string, value: string): number => {
    const time = Date.parse(value);
    if (Number.isNaN(time)) throw invalidMembers({ [name]: ['This is no time.'] });
    return time;
  };
  return {
    ...rest,
    ...(from === undefined ? {} : { from: timeOf('from', from) }),
    ...(to === undefined ? {} : { to: timeOf('to', to) }),
  };
}

export function deadLetterRoutes(app: ApiServer, services: ApiServices): void {
  const deadLetters = createDeadLetterContext(services);
  app.addHook('preClose', async () => deadLetters.shared.stop());
  addList(app, deadLetters);
  addRead(app, deadLetters);
  addReplay(app, deadLetters);
  addDrop(app, deadLetters);
  addJobs(app, deadLetters);
  addJob(app, deadLetters);
  addCancel(app, deadLetters);
}

type DeadLetterContext = ReturnType<typeof createDeadLetterContext>;

/** What the routes share. */
function createDeadLetterContext(services: ApiServices) {
  const shared = createSharedWork<Job>({
    state: sharedStateOf(services),
    prefix: 'dead-letter-jobs/',
    retainedMs: jobRetainedMs,
    log: services.log,
  });
  const jobs = createJobs(shared);
  const deadLetters = () => operationsOf(services).deadLetters;
  return { deadLetters, services, shared, jobs };
}

function addList(app: ApiServer, { deadLetters, services }: DeadLetterContext): void {
  app.get(
    base,
    {
      config: {
        permission: 'dead-letters',
        audit: 'search:dead_letters',
        audited: ({ query }) => auditedDeadLetters(query, true),
      },
      schema: {
        summary: 'Dead letters, newest first',
        tags,
        querystring: listQuery,
        response: { 200: Type.Object({ total: Type.Integer(), dead_letters: Type.Array(deadLetterAnswer) }) },
      },
    },
    async ({ query: { limit = 100, ...rest } }) => {
      const shown: Static<typeof deadLetterAnswer>[] = [];
      const total = await deadLetters().list(
        selectionOf(deadLettersBody(rest), services.deadLetterQuery),
        limit,
        async (page) => {
          for (const { id, place, document } of page) shown.push({ id, index: place, document });
        },
        AbortSignal.timeout(60_000),
      );
      return { total, dead_letters: shown };
    },
  );
}

function addRead(app: ApiServer, { deadLetters }: DeadLetterContext): void {
  app.get(
    `${base}/:letterId`,
    {
      config: { permission: 'dead-letters', audit: 'search:dead_letter' },
      schema: { summary: 'One dead letter, whole', tags, params, response: { 200: deadLetterAnswer } },
    },
    async ({ params: { letterId } }) => {
      const { id, place, document } = found('dead letter', await deadLetters().find(letterId));
      return { id, index: place, document };
    },
  );
}

function addReplay(app: ApiServer, { services, jobs, deadLetters }: DeadLetterContext): void {
  app.post(
    `${base}/replay`,
    {
      config: {
        permission: 'dead-letters',
        audit: 'dead_letter:replay',
        audited: ({ body }) => auditedDeadLetters(body, false),
      },
      schema: {
        summary: 'Store the messages again as the rules are now; with dry_run only say where they would go',
        tags,
        body: Type.Object({ ...workBody.properties, dry_run: Type.Optional(Type.Boolean()) }),
        response: { 202: jobAnswer },
      },
    },
    async (request, reply) => {
      const { limit = Infinity, dry_run: dryRun, ...rest } = request.body;
      const selection = chosen(deadLettersBody(rest), services.deadLetterQuery);
      const job = await jobs.begin(
        dryRun === true ? 'plan' : 'replay',
        request.identity.username,
        async (signal, onProgress) => {
          const work = {
            signal,
            onProgress: async (progress: Parameters<typeof onProgress>[0]) => onProgress(progress),
          };
          return {
            ...(dryRun === true
              ? await deadLetters().plan(selection, limit, work)
              : await deadLetters().replay(selection, limit, work)),
          };
        },
      );
      request.audited = { object: job.id, details: someOf(request.body, choosing) };
      return reply.code(202).header('location', `${base}/jobs/${job.id}`).send(job);
    },
  );
}

function addDrop(app: ApiServer, { services, jobs, deadLetters }: DeadLetterContext): void {
  app.post(
    `${base}/drop`,
    {
      config: {
        permission: 'dead-letters',
        audit: 'dead_letter:drop',
        audited: ({ body }) => auditedDeadLetters(body, false),
      },
      schema: {
        summary: 'Give letters up: kept with who and when until retention, passed over by replays',
        tags,
        body: workBody,
        response: { 202: jobAnswer },
      },
    },
    async (request, reply) => {
      const { limit = Infinity, ...rest } = request.body;
      const selection = chosen(deadLettersBody(rest), services.deadLetterQuery);
      const { username } = request.identity;
      const job = await jobs.begin('drop', username, async (signal, onProgress) => ({
        ...(await deadLetters().drop(selection, limit, username, {
          signal,
          onProgress: async (progress) => onProgress(progress),
        })),
      }));
      request.audited = { object: job.id, details: someOf(request.body, choosing) };
      return reply.code(202).header('location', `${base}/jobs/${job.id}`).send(job);
    },
  );
}

function addJobs(app: ApiServer, { jobs }: DeadLetterContext): void {
  app.get(
    `${base}/jobs`,
    {
      config: { permission: 'dead-letters' },
      schema: {
        summary: 'Replays and drops of every process, newest first',
        tags,
        response: { 200: Type.Object({ jobs: Type.Array(jobAnswer) }) },
      },
    },
    async () => ({ jobs: [...(await jobs.list())] }),
  );
}

function addJob(app: ApiServer, { jobs }: DeadLetterContext): void {
  app.get(
    `${base}/jobs/:jobId`,
    {
      config: { permission: 'dead-letters' },
      schema: { summary: 'How far a replay or drop is', tags, params: jobParams, response: { 200: jobAnswer } },
    },
    async ({ params: { jobId } }) => found('job', await jobs.find(jobId)),
  );
}

function addCancel(app: ApiServer, { jobs }: DeadLetterContext): void {
  app.delete(
    `${base}/jobs/:jobId`,
    {
      config: { permission: 'dead-letters', audit: 'dead_letter:cancel' },
      schema: {
        summary: 'End a replay or drop; what is done stays done',
        tags,
        params: jobParams,
        response: { 204: nothing },
      },
    },
    async ({ params: { jobId } }, reply) => {
      await jobs.cancel(found('job', await jobs.find(jobId)).id);
      return reply.code(204).send(null);
    },
  );
}
