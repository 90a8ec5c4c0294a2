/** Rules: list, read, create, change, delete, and dry runs before they are saved. */
import { Type } from 'typebox';
import { apiIdOf } from '../../../../core/object-ids.js';
import type { MessageDryRun } from '../../../../definitions/contract.js';
import type { Identity } from '../../../../schemas/access.js';
import type { ApiServer } from '../../contract.js';
import { failure } from '../../failure.js';
import { assertChangeable, assertRemovable, found, storing } from '../../objects/changing.js';
import { auditedHistory, historyAnswer, historyBody, historyDryRun } from '../../objects/dry-runs/history.js';
import { idFromTitle } from '../../objects/id-from-title.js';
import { ruleAnswer, ruleBody, ruleFields, showRule, takeRuleSettings } from '../../objects/rules/rule-shape.js';
import { nothing, objectId } from '../../objects/shapes.js';
import {
  dryRunOf,
  explained,
  messageBody,
  requestSignal,
  streamsOfDryRun,
  visibleStreams,
} from '../../objects/dry-runs/message.js';
import type { ApiServices } from '../../services.js';

const tags = ['Rules'];
const base = '/api/rules';
const params = Type.Object({ ruleId: objectId('Rule.') });
const change = Type.Object({ field: Type.String(), before: Type.Unknown(), after: Type.Unknown() });
const tryAnswer = Type.Object({
  matches: Type.Boolean(),
  state: Type.String(),
  ...explained,
  changes: Type.Array(change, { description: 'What the rule does to the message.' }),
  dropped: Type.Boolean(),
  streams: streamsOfDryRun,
});
const dryRunId = 'tried-rule';

export function ruleRoutes(app: ApiServer, services: ApiServices): void {
  const rules = createRuleContext(services);
  addList(app, rules);
  addRead(app, rules);
  addCreate(app, rules);
  addChange(app, rules);
  addDelete(app, rules);
  addDryRun(app, rules);
  addUnsavedDryRun(app, rules);
  addHistory(app, rules);
}

type RuleContext = ReturnType<typeof createRuleContext>;

/** What the routes share. */
function createRuleContext(services: ApiServices) {
  const { definitions } = services;
  const itemOf = async (name: string) => found('rule', (await definitions.catalog()).find('rules', name));
  const shown = async (name: string, identity: Identity) =>
    showRule(await itemOf(name), await definitions.catalog(), identity);
  const answer = (result: MessageDryRun, id: string, identity: Identity) => {
    const rule = found('rule', result.rule(id));
    const changes = rule.changes.map(({ field, before, after }) => ({
      field,
      before: before ?? null,
      after: after ?? null,
    }));
    return {
      matches: rule.state === 'matched',
      state: rule.state,
      reason: rule.error ?? `The rule is ${rule.state}.`,
      condition: (rule.condition as unknown as Readonly<Record<string, unknown>> | undefined) ?? null,
      changes,
      dropped: result.explanation.routing.dropped,
      streams: visibleStreams(result, identity),
    };
  };
  return { definitions, shown, itemOf, answer, services };
}

function addList(app: ApiServer, { definitions }: RuleContext): void {
  app.get(
    base,
    {
      config: { permission: 'system:read' },
      schema: {
        summary: 'Rules, in the order they run',
        tags,
        response: { 200: Type.Object({ total: Type.Integer(), rules: Type.Array(ruleAnswer) }) },
      },
    },
    async ({ identity }) => {
      const catalog = await definitions.catalog();
      const rules = catalog.list('rules').map((item) => showRule(item, catalog, identity));
      return { total: rules.length, rules };
    },
  );
}

function addRead(app: ApiServer, { shown }: RuleContext): void {
  app.get(
    `${base}/:ruleId`,
    {
      config: { permission: 'system:read' },
      schema: { summary: 'One rule', tags, params, response: { 200: ruleAnswer } },
    },
    async ({ params: { ruleId }, identity }) => shown(ruleId, identity),
  );
}

function addCreate(app: ApiServer, { definitions, shown }: RuleContext): void {
  app.post(
    base,
    {
      config: { permission: 'rules:edit', audit: 'rule:create' },
      schema: {
        summary: 'Create a rule; it runs behind all others',
        tags,
        body: ruleBody,
        response: { 201: ruleAnswer },
      },
    },
    async (request, reply) => {
      const catalog = await definitions.catalog();
      const objects = definitions.writer();
      const { name, description = '' } = request.body;
      if (name !== undefined && catalog.find('rules', name) !== undefined)
        throw failure('API_EXISTS', `There is a rule ${name} already.`);
      const id =
        name ??
        idFromTitle(
          description,
          'rule',
          (taken) => catalog.find('rules', taken) !== undefined || objects.wasUsed('rules', taken),
        );
      await storing(() =>
        objects.create(
          'rules',
          id,
          { definition: { id, ...takeRuleSettings(request.body, request.identity) } },
          request.identity.username,
        ),
      );
      request.audited = { object: id };
      return reply
        .code(201)
        .header('location', `${base}/${apiIdOf(id)}`)
        .send(await shown(id, request.identity));
    },
  );
}

function addChange(app: ApiServer, { itemOf, definitions, shown }: RuleContext): void {
  app.put(
    `${base}/:ruleId`,
    {
      config: { permission: 'rules:edit', audit: 'rule:update' },
      schema: {
        summary: 'Change what is given of a rule',
        tags,
        params,
        body: ruleBody,
        response: { 200: ruleAnswer },
      },
    },
    async ({ params: { ruleId }, body, identity }) => {
      const item = await itemOf(ruleId);
      assertChangeable('rule', item);
      await storing(() =>
        definitions.writer().change(
          'rules',
          item.id,
          (before) => ({
            definition: { ...before?.definition, ...takeRuleSettings(body, identity, item), id: item.id },
          }),
          identity.username,
        ),
      );
      return shown(item.id, identity);
    },
  );
}

function addDelete(app: ApiServer, { itemOf, definitions }: RuleContext): void {
  app.delete(
    `${base}/:ruleId`,
    {
      config: { permission: 'rules:edit', audit: 'rule:delete' },
      schema: { summary: 'Delete a rule', tags, params, response: { 204: nothing } },
    },
    async ({ params: { ruleId }, identity }, reply) => {
      const item = await itemOf(ruleId);
      assertRemovable('rule', item);
      await storing(() => definitions.writer().remove('rules', item.id, identity.username));
      return reply.code(204).send(null);
    },
  );
}

function addDryRun(app: ApiServer, { itemOf, answer, services }: RuleContext): void {
  app.post(
    `${base}/:ruleId/try`,
    {
      config: { permission: 'rules:edit', reads: true },
      schema: {
        summary: 'Try one message against a rule: whether it matches, why, and what it does',
        tags,
        params,
        body: Type.Object(messageBody),
        response: { 200: tryAnswer },
      },
    },
    async ({ params: { ruleId }, body, identity }) => {
      const { id } = await itemOf(ruleId);
      return answer(dryRunOf(services, services.rules(), body), id, identity);
    },
  );
}

function addUnsavedDryRun(app: ApiServer, { definitions, answer, services }: RuleContext): void {
  app.post(
    `${base}/try`,
    {
      config: { permission: 'rules:edit', reads: true },
      schema: {
        summary: 'Try one message against a rule that is not saved, behind all others',
        tags,
        body: Type.Object({ ...ruleFields, ...messageBody }),
        response: { 200: tryAnswer },
      },
    },
    async ({ body, identity }) => {
      const { when, then, description } = body;
      const definition = {
        ...takeRuleSettings(
          {
            ...(when === undefined ? {} : { when }),
            ...(then === undefined ? {} : { then }),
            ...(description === undefined ? {} : { description }),
          },
          identity,
        ),
        id: dryRunId,
      };
      const rules = await storing(() => definitions.rulesWith('rules', definition));
      return answer(dryRunOf(services, rules, body), dryRunId, identity);
    },
  );
}

function addHistory(app: ApiServer, { services }: RuleContext): void {
  app.post(
    `${base}/try/history`,
    {
      config: {
        permission: 'rules:edit',
        checks: 'shows what may be read',
        audit: 'search:history',
        audited: auditedHistory,
      },
      schema: {
        summary: 'How many of the newest stored messages fulfil a condition; they are as all rules have left them',
        tags,
        body: Type.Object({
          when: Type.Unsafe<Readonly<Record<string, unknown>>>({
            type: 'object',
            additionalProperties: true,
            description: 'A condition, as in rule files.',
          }),
          ...historyBody,
        }),
        response: { 200: historyAnswer },
      },
    },
    async (request, reply) =>
      historyDryRun(services, await storing(() => services.dryRuns.streamMatcher({ when: request.body.when })), {
        asked: request.body,
        identity: request.identity,
        signal: requestSignal(reply),
      }),
  );
}
