/** Rules of streams: list, read, types, add, change, remove. */
import { Type } from 'typebox';
import type { ApiServer } from '../../contract.js';
import { failure } from '../../failure.js';
import { found } from '../../objects/changing.js';
import { nothing, objectId } from '../../objects/shapes.js';
import {
  rulesOf,
  ruleTypes,
  showRules,
  streamRuleAnswer,
  streamRuleBody,
  takeRule,
  type StreamRule,
} from '../../objects/streams/stream-shape.js';
import { createStreamStore } from '../../objects/streams/stream-store.js';
import type { ApiServices } from '../../services.js';

const tags = ['Streams'];
const streamParams = Type.Object({ streamId: objectId('Stream.') });
const ruleParams = Type.Object({
  streamId: objectId('Stream.'),
  ruleId: Type.String({ maxLength: 24, description: 'Id of the rule.' }),
});
const written = Type.Object({ streamrule_id: Type.String() });
const maxRules = 200;

export function streamRuleRoutes(app: ApiServer, services: ApiServices): void {
  const streamRules = createStreamRuleContext(services);
  addList(app, streamRules);
  addTypes(app);
  addRead(app, streamRules);
  addCreate(app, streamRules);
  addChange(app, streamRules);
  addDelete(app, streamRules);
}

type StreamRuleContext = ReturnType<typeof createStreamRuleContext>;

/** What the routes share. */
function createStreamRuleContext(services: ApiServices) {
  const store = createStreamStore(services);

  /** A stream with a condition of rule files has no rules that could be added to. */
  const changeRules = async (
    id: string,
    by: string,
    change: (rules: readonly StreamRule[]) => readonly StreamRule[],
  ): Promise<void> => {
    await store.change(id, by, ({ when, rules }) => {
      if (id === 'all-messages')
        throw failure('API_REQUEST_REFUSED', 'All messages takes every message; it has no rules.');
      if (when !== undefined)
        throw failure(
          'API_MANAGED_ELSEWHERE',
          'The condition of this stream is written as `when`; change it as a whole with PUT /api/streams/{streamId}.',
        );
      const next = change((rules ?? []) as readonly StreamRule[]);
      if (next.length > maxRules) throw failure('API_LIMIT_REACHED', `A stream may have ${maxRules} rules.`);
      return { rules: next };
    });
  };
  const placeOf = (id: string, rules: readonly StreamRule[], rule: string): number => {
    const place = showRules(id, rules).findIndex((shown) => shown.id === rule);
    if (place < 0) throw failure('API_NOT_FOUND', 'The stream has no such rule.');
    return place;
  };
  return { store, changeRules, placeOf };
}

function addList(app: ApiServer, { store }: StreamRuleContext): void {
  app.get(
    '/api/streams/:streamId/rules',
    {
      config: { permission: 'stream:read' },
      schema: {
        summary: 'Rules of a stream',
        tags,
        params: streamParams,
        response: { 200: Type.Object({ total: Type.Integer(), stream_rules: Type.Array(streamRuleAnswer) }) },
      },
    },
    async ({ streamId }) => {
      const rules = showRules(streamId, rulesOf(await store.item(streamId)));
      return { total: rules.length, stream_rules: rules };
    },
  );
}

function addTypes(app: ApiServer): void {
  app.get(
    '/api/streams/:streamId/rules/types',
    {
      config: { permission: 'stream:read' },
      schema: {
        summary: 'Types of stream rules',
        tags,
        params: streamParams,
        response: {
          200: Type.Array(
            Type.Object({
              id: Type.Integer(),
              name: Type.String(),
              short_desc: Type.String(),
              long_desc: Type.String(),
            }),
          ),
        },
      },
    },
    () => Promise.resolve([...ruleTypes]),
  );
}

function addRead(app: ApiServer, { store }: StreamRuleContext): void {
  app.get(
    '/api/streams/:streamId/rules/:ruleId',
    {
      config: { permission: 'stream:read' },
      schema: { summary: 'One rule of a stream', tags, params: ruleParams, response: { 200: streamRuleAnswer } },
    },
    async ({ streamId, params: { ruleId } }) =>
      found(
        'rule',
        showRules(streamId, rulesOf(await store.item(streamId))).find(({ id }) => id === ruleId),
      ),
  );
}

function addCreate(app: ApiServer, { changeRules }: StreamRuleContext): void {
  app.post(
    '/api/streams/:streamId/rules',
    {
      config: { permission: 'stream:edit', audit: 'stream_rule:create' },
      schema: {
        summary: 'Add a rule to a stream',
        tags,
        params: streamParams,
        body: streamRuleBody,
        response: { 201: written },
      },
    },
    async ({ streamId, body, identity }, reply) => {
      const rule = takeRule(body);
      let id = '';
      await changeRules(streamId, identity.username, (rules) => {
        const next = [...rules, rule];
        id = showRules(streamId, next).at(-1)?.id ?? '';
        return next;
      });
      return reply.code(201).header('location', `/api/streams/${streamId}/rules/${id}`).send({ streamrule_id: id });
    },
  );
}

function addChange(app: ApiServer, { changeRules, placeOf }: StreamRuleContext): void {
  app.put(
    '/api/streams/:streamId/rules/:ruleId',
    {
      config: { permission: 'stream:edit', audit: 'stream_rule:update' },
      schema: {
        summary: 'Change a rule of a stream; its id changes with it',
        tags,
        params: ruleParams,
        body: streamRuleBody,
        response: { 200: written },
      },
    },
    async ({ streamId, params: { ruleId }, body, identity }) => {
      const rule = takeRule(body);
      let id = '';
      await changeRules(streamId, identity.username, (rules) => {
        const place = placeOf(streamId, rules, ruleId);
        const next = rules.with(place, rule);
        id = showRules(streamId, next)[place]?.id ?? '';
        return next;
      });
      return { streamrule_id: id };
    },
  );
}

function addDelete(app: ApiServer, { changeRules, placeOf }: StreamRuleContext): void {
  app.delete(
    '/api/streams/:streamId/rules/:ruleId',
    {
      config: { permission: 'stream:edit', audit: 'stream_rule:delete' },
      schema: { summary: 'Remove a rule of a stream', tags, params: ruleParams, response: { 204: nothing } },
    },
    async ({ streamId, params: { ruleId }, identity }, reply) => {
      await changeRules(streamId, identity.username, (rules) => rules.toSpliced(placeOf(streamId, rules, ruleId), 1));
      return reply.code(204).send(null);
    },
  );
}
