/** Dry runs of streams: on one uploaded message and on what is stored, before they are started or even saved. */
import { Type } from 'typebox';
import type { CatalogItem, StreamVerdict } from '../../../../definitions/contract.js';
import type { RuleSet } from '../../../../rules/contract.js';
import type { ApiServer } from '../../contract.js';
import { invalidMembers } from '../../failure.js';
import { found, storing } from '../../objects/changing.js';
import { auditedHistory, historyAnswer, historyBody, historyDryRun } from '../../objects/dry-runs/history.js';
import { objectId } from '../../objects/shapes.js';
import { rulesOf, showRules, streamFields, takeStream } from '../../objects/streams/stream-shape.js';
import { createStreamStore } from '../../objects/streams/stream-store.js';
import {
  dryRunOf,
  explained,
  messageBody,
  requestSignal,
  rulesNotLoaded,
  streamsOfDryRun,
  visibleStreams,
} from '../../objects/dry-runs/message.js';
import type { ApiServices } from '../../services.js';

const tags = ['Streams'];
const params = Type.Object({ streamId: objectId('Stream.') });
const matchAnswer = Type.Object({
  matches: Type.Boolean({ description: 'Whether the stream would hold the message.' }),
  rules: Type.Record(Type.String(), Type.Boolean(), {
    description: 'By the id of each rule of the stream, whether it matches.',
  }),
  routed_by: Type.Array(Type.String(), {
    description: 'Ids of rules of rule files and pipelines that route the message to it.',
  }),
  ...explained,
  streams: streamsOfDryRun,
});
const conditionFields = {
  rules: streamFields.rules,
  when: streamFields.when,
  matching_type: streamFields.matching_type,
};

export function streamDryRunRoutes(app: ApiServer, services: ApiServices): void {
  const dryRuns = createStreamDryRunContext(services);
  addMessage(app, dryRuns);
  addHistory(app, dryRuns);
  addUnsavedHistory(app, dryRuns);
}

type StreamDryRunContext = ReturnType<typeof createStreamDryRunContext>;

/** What the routes share. */
function createStreamDryRunContext(services: ApiServices) {
  const store = createStreamStore(services);
  return { store, services };
}

function addMessage(app: ApiServer, { store, services }: StreamDryRunContext): void {
  app.post(
    '/api/streams/:streamId/testMatch',
    {
      config: { permission: 'stream:read', reads: true },
      schema: {
        summary: 'Try one message against a stream: which rule matches, and why',
        tags,
        params,
        body: Type.Object(messageBody),
        response: { 200: matchAnswer },
      },
    },
    async ({ streamId, identity, body }) => {
      const item = await store.item(streamId);
      const ruleSet = await startedRules(services, item);
      const result = dryRunOf(services, ruleSet, body);
      const stream = found('stream', result.stream(streamId));
      const rules = rulesOf(item);
      const verdicts = verdictsOfRules(stream.condition, rules.length);
      return {
        matches: stream.member,
        reason: stream.reason,
        condition: (stream.condition as unknown as Readonly<Record<string, unknown>> | undefined) ?? null,
        routed_by: [...stream.routedBy],
        rules: Object.fromEntries(showRules(streamId, rules).map(({ id }, place) => [id, verdicts[place] ?? false])),
        streams: visibleStreams(result, identity),
      };
    },
  );
}

function addHistory(app: ApiServer, { services, store }: StreamDryRunContext): void {
  app.post(
    '/api/streams/:streamId/try/history',
    {
      config: {
        permission: 'stream:read',
        checks: 'shows what may be read',
        audit: 'search:history',
        audited: auditedHistory,
      },
      schema: {
        summary: 'How many of the newest stored messages the stream would take',
        tags,
        params,
        body: Type.Object(historyBody),
        response: { 200: historyAnswer },
      },
    },
    async (request, reply) => {
      const rules = await startedRules(services, await store.item(request.streamId));
      if (rules === undefined) throw rulesNotLoaded();
      return historyDryRun(services, services.dryRuns.memberMatcher(rules, request.streamId), {
        asked: request.body,
        identity: request.identity,
        signal: requestSignal(reply),
      });
    },
  );
}

function addUnsavedHistory(app: ApiServer, { services }: StreamDryRunContext): void {
  app.post(
    '/api/streams/try/history',
    {
      config: {
        permission: 'streams:create',
        checks: 'shows what may be read',
        audit: 'search:history',
        audited: auditedHistory,
      },
      schema: {
        summary: 'How many of the newest stored messages a stream would take that is not saved',
        tags,
        body: Type.Object({ ...conditionFields, ...historyBody }),
        response: { 200: historyAnswer },
      },
    },
    async (request, reply) => {
      const { rules, when, matching_type: matchingType } = request.body;
      if (rules === undefined && when === undefined)
        throw invalidMembers({ rules: ['Rules or a condition are needed.'] });
      const settings = takeStream(
        {
          ...(rules === undefined ? {} : { rules }),
          ...(when === undefined ? {} : { when }),
          ...(matchingType === undefined ? {} : { matching_type: matchingType }),
        },
        (name) => name,
      );
      return historyDryRun(services, await storing(() => services.dryRuns.streamMatcher(settings)), {
        asked: request.body,
        identity: request.identity,
        signal: requestSignal(reply),
      });
    },
  );
}

/** Each rule of a stream with its own verdict, in their order. */
function verdictsOfRules(condition: StreamVerdict | undefined, rules: number): readonly boolean[] {
  if (condition === undefined || condition.children.length !== rules)
    return Array.from({ length: rules }, () => condition?.held ?? false);
  return condition.children.map(({ held }) => held);
}

/** The rules in force, with this stream taking part also where it is paused. */
async function startedRules(
  { rules, definitions }: Pick<ApiServices, 'rules' | 'definitions'>,
  { id, settings }: CatalogItem,
): Promise<RuleSet | undefined> {
  if (settings['enabled'] !== false) return rules();
  // One that is paused in a file of the operator's cannot be changed, not even to try it.
  return definitions.rulesWith('streams', { ...settings, id, enabled: true }).catch(() => rules());
}
