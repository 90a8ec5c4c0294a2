/** Streams tried: on one uploaded message, and on stored history, before they are started or even saved. */
import { Type } from 'typebox';
import { streamMatcher, verdictsOfRules } from '../../../pipeline/objects/try.js';
import type { ApiServer } from '../contract.js';
import { invalidMembers } from '../failure.js';
import { found, storing } from '../objects/changing.js';
import { auditedHistory, historyAnswer, historyBody, tryHistory } from '../objects/history.js';
import { objectId } from '../objects/shapes.js';
import { rulesOf, showRules, streamFields, takeStream } from '../objects/stream-shape.js';
import { createStreamStore } from '../objects/stream-store.js';
import { explained, messageBody, requestSignal, streamsOfTry, tried, visibleStreams } from '../objects/tries.js';
import type { ApiServices } from '../services.js';

const tags = ['Streams'];
const params = Type.Object({ streamId: objectId('Stream.') });
const matchAnswer = Type.Object({
  matches: Type.Boolean({ description: 'Whether the stream would hold the message.' }),
  rules: Type.Record(Type.String(), Type.Boolean(), { description: 'By the id of each rule, whether it matches.' }),
  ...explained, streams: streamsOfTry,
});
const conditionFields = { rules: streamFields.rules, when: streamFields.when, matching_type: streamFields.matching_type };

export function streamTryRoutes(app: ApiServer, services: ApiServices): void {
  const store = createStreamStore(services);

  app.post('/api/streams/:streamId/testMatch', {
    config: { permission: 'stream:read', reads: true }, schema: { summary: 'Try one message against a stream: which rule matches, and why', tags, params, body: Type.Object(messageBody), response: { 200: matchAnswer } },
  }, async ({ streamId, identity, body: { message, receiver } }) => {
    const item = await store.item(streamId);
    const result = tried(services, message, receiver);
    const stream = found('stream', result.stream(streamId));
    const rules = rulesOf(item);
    const matches = stream.condition?.held ?? stream.member;
    const verdicts = item.settings['enabled'] === false ? pausedVerdicts(item.settings, rules.length, result.explanation.after) : verdictsOfRules(stream.condition, rules.length);
    return {
      matches: item.settings['enabled'] === false ? matcherOf(item.settings)(result.explanation.after, 'test') : matches, reason: stream.reason, condition: (stream.condition as unknown as Readonly<Record<string, unknown>> | undefined) ?? null,
      rules: Object.fromEntries(showRules(streamId, rules).map(({ id }, place) => [id, verdicts[place] ?? false])), streams: visibleStreams(result, identity),
    };
  });

  app.post('/api/streams/:streamId/try/history', {
    config: { permission: 'stream:read', checks: 'shows what may be read', audit: 'search:history', audited: auditedHistory }, schema: { summary: 'How many of the newest stored messages the stream would take', tags, params, body: Type.Object(historyBody), response: { 200: historyAnswer } },
  }, async (request, reply) => tryHistory(services, matcherOf((await store.item(request.streamId)).settings), request.body, request.identity, requestSignal(reply)));

  app.post('/api/streams/try/history', {
    config: { permission: 'streams:create', checks: 'shows what may be read', audit: 'search:history', audited: auditedHistory }, schema: { summary: 'How many of the newest stored messages a stream would take that is not saved', tags, body: Type.Object({ ...conditionFields, ...historyBody }), response: { 200: historyAnswer } },
  }, async (request, reply) => {
    const { rules, when, matching_type: matchingType } = request.body;
    if (rules === undefined && when === undefined) throw invalidMembers({ rules: ['Rules or a condition are needed.'] });
    const settings = takeStream({ ...(rules === undefined ? {} : { rules }), ...(when === undefined ? {} : { when }), ...(matchingType === undefined ? {} : { matching_type: matchingType }) }, (name) => name);
    return tryHistory(services, await storing(() => streamMatcher(settings)), request.body, request.identity, requestSignal(reply));
  });
}

type Settings = Parameters<typeof streamMatcher>[0];
type Document = Parameters<ReturnType<typeof streamMatcher>>[0];

function matcherOf({ when, rules, matching_type: matchingType }: Settings): ReturnType<typeof streamMatcher> {
  return streamMatcher(when === undefined ? { rules, matching_type: matchingType } : { when });
}

/** A paused stream takes part in nothing, so its rules are tried one by one. */
function pausedVerdicts({ rules }: Settings, count: number, document: Document): readonly boolean[] {
  return Array.from({ length: count }, (_, place) => streamMatcher({ rules: [(rules as readonly unknown[])[place]] })(document, 'test'));
}
