/** Graylog pipeline rules: list, read, check, create, change, delete. They take effect through a connected pipeline. */
import { Type } from 'typebox';
import { apiIdOf } from '../../../../core/object-ids.js';
import { titleOf } from '../../../../definitions/graylog/contract.js';
import type { ApiServer } from '../../contract.js';
import { failure } from '../../failure.js';
import { storing } from '../../objects/changing.js';
import { showActions } from '../../objects/streams/hidden-streams.js';
import { idFromTitle } from '../../objects/id-from-title.js';
import { knownReceivers } from '../../objects/receivers/known-receivers.js';
import {
  objectOf,
  objectsOf,
  pipelineRuleAnswer,
  reading,
  showPipelineRule,
  sourceBody,
  usersOf,
} from '../../objects/rules/pipeline-shape.js';
import { nothing, objectId } from '../../objects/shapes.js';
import type { ApiServices } from '../../services.js';

const tags = ['Pipelines'];
const base = '/api/system/pipelines/rule';
const params = Type.Object({ ruleId: objectId('Rule of pipelines.') });
const kind = 'pipeline-rules';
type PipelineRulePorts = Pick<ApiServices, 'config' | 'definitions' | 'graylog'>;
type Body = { readonly description?: string | null | undefined; readonly source: string };

export function pipelineRuleRoutes(app: ApiServer, services: PipelineRulePorts): void {
  const rules = createPipelineRuleContext(services);
  addList(app, rules);
  addRead(app, rules);
  addCreate(app, rules);
  addChange(app, rules);
  addDelete(app, rules);
  addCheck(app, rules);
}

type PipelineRuleContext = ReturnType<typeof createPipelineRuleContext>;

/** What the routes share. */
function createPipelineRuleContext(services: PipelineRulePorts) {
  const { definitions } = services;
  const ruleOf = (name: string) => objectOf(services, kind, 'rule of pipelines', name);
  const take = (body: Body) => takeRule(services, body);
  return { services, ruleOf, definitions, take };
}

function addList(app: ApiServer, { services }: PipelineRuleContext): void {
  app.get(
    base,
    {
      config: { permission: 'system:read' },
      schema: { summary: 'Rules of pipelines', tags, response: { 200: Type.Array(pipelineRuleAnswer) } },
    },
    async ({ identity }) => objectsOf(services, kind).map((rule) => showPipelineRule(services, rule, identity)),
  );
}

function addRead(app: ApiServer, { services, ruleOf }: PipelineRuleContext): void {
  app.get(
    `${base}/:ruleId`,
    {
      config: { permission: 'system:read' },
      schema: { summary: 'One rule of pipelines', tags, params, response: { 200: pipelineRuleAnswer } },
    },
    async ({ params: { ruleId }, identity }) => showPipelineRule(services, ruleOf(ruleId), identity),
  );
}

function addCreate(app: ApiServer, { definitions, take, services, ruleOf }: PipelineRuleContext): void {
  app.post(
    base,
    {
      config: { permission: 'rules:edit', audit: 'pipeline_rule:create' },
      schema: { summary: 'Create a rule of pipelines', tags, body: sourceBody, response: { 200: pipelineRuleAnswer } },
    },
    async (request) => {
      const objects = definitions.writer();
      const definition = await take(request.body);
      if (objectsOf(services, kind).some((rule) => titleOf(rule) === definition.title))
        throw failure('API_EXISTS', `There is a rule ${JSON.stringify(definition.title)} already.`);
      const id = idFromTitle(definition.title, 'rule', (taken) => objects.wasUsed(kind, taken));
      await storing(() => objects.create(kind, id, { definition: { ...definition, id } }, request.identity.username));
      request.audited = { object: id };
      return showPipelineRule(services, ruleOf(id), request.identity);
    },
  );
}

function addChange(app: ApiServer, { ruleOf, take, services, definitions }: PipelineRuleContext): void {
  app.put(
    `${base}/:ruleId`,
    {
      config: { permission: 'rules:edit', audit: 'pipeline_rule:update' },
      schema: {
        summary: 'Change a rule of pipelines',
        tags,
        params,
        body: sourceBody,
        response: { 200: pipelineRuleAnswer },
      },
    },
    async ({ params: { ruleId }, body, identity }) => {
      const rule = ruleOf(ruleId);
      const definition = await take(body);
      if (definition.title !== titleOf(rule)) assertUnused(usersOf(services, rule), 'renamed');
      await storing(() =>
        definitions
          .writer()
          .change(
            kind,
            rule.id,
            (before) => ({ definition: { ...before?.definition, ...definition, id: rule.id } }),
            identity.username,
          ),
      );
      return showPipelineRule(services, ruleOf(rule.id), identity);
    },
  );
}

function addDelete(app: ApiServer, { ruleOf, services, definitions }: PipelineRuleContext): void {
  app.delete(
    `${base}/:ruleId`,
    {
      config: { permission: 'rules:edit', audit: 'pipeline_rule:delete' },
      schema: { summary: 'Delete a rule that no pipeline names', tags, params, response: { 204: nothing } },
    },
    async ({ params: { ruleId }, identity }, reply) => {
      const rule = ruleOf(ruleId);
      assertUnused(usersOf(services, rule), 'deleted');
      await storing(() => definitions.writer().remove(kind, rule.id, identity.username));
      return reply.code(204).send(null);
    },
  );
}

function addCheck(app: ApiServer, { take }: PipelineRuleContext): void {
  app.post(
    `${base}/parse`,
    {
      config: { permission: 'rules:edit', reads: true },
      schema: {
        summary: 'Check a rule of pipelines, and see what it comes to',
        tags,
        body: sourceBody,
        response: { 200: pipelineRuleAnswer },
      },
    },
    async ({ body, identity }) => {
      const { title, description = '', source, when, then } = await take(body);
      return {
        id: null,
        name: '',
        title,
        description,
        source,
        created_at: null,
        modified_at: null,
        errors: null,
        used_by: [],
        when,
        then: showActions(then, identity),
        in_force: false,
        reason: 'It was only checked.',
        simulator_message: null,
      };
    },
  );
}

/** Refused as a whole where it would not fit with the rules as they are. */
async function takeRule(services: PipelineRulePorts, { description, source }: Body) {
  const { definitions, graylog } = services;
  const streams = (await definitions.catalog())
    .list('streams')
    .map(({ id, settings: { title } }) => ({ id, title: typeof title === 'string' ? title : id }));
  const {
    name: title,
    when,
    then,
  } = reading(() => graylog.pipelines.translateRule(source, { streams, receivers: knownReceivers(services) }));
  if (title.trim() === '') throw failure('API_REQUEST_REFUSED', 'A rule needs a name.');
  const actions =
    then.length === 0
      ? [{ remove: { fields: ['nothing'] } }]
      : graylog.grok.inActions(then, graylog.grok.table(definitions.stored()));
  await storing(() => definitions.rulesWith('rules', { id: `tried--${apiIdOf(title)}`, when, then: actions }));
  return { title, ...(typeof description === 'string' ? { description } : {}), source, when, then };
}

function assertUnused(users: readonly string[], what: string): void {
  if (users.length > 0)
    throw failure('API_IN_USE', `The rule cannot be ${what}: these pipelines name it: ${users.join(', ')}.`, {
      body: { pipelines: users },
    });
}
