/**
 * Connected pipelines come to rules that do what the pipelines say: stages in order, conditions of a stage before its
 * actions, the next stage as `match` says.
 */
import fc from 'fast-check';
import t from 'tap';
import { pipelineProblems } from '../../../definitions/graylog/pipeline-problems.js';
import type { Stage } from '../../../definitions/graylog/contract.js';
import { pipelineRules } from '../../../definitions/graylog/pipelines.js';
import type { StoredDefinition, ObjectKind } from '../../../definitions/stored.js';
import type { LogDocument } from '../../../schemas/messages.js';
import { compiled, run } from '../../rules/support.js';
import { present } from './pipeline-rules/support.js';

const kept = (kind: ObjectKind, id: string, definition: Readonly<Record<string, unknown>>): StoredDefinition => ({
  kind,
  id,
  definition: { id, ...definition },
  secrets: {},
  created_at: '2026',
  created_by: '',
  changed_at: '',
  changed_by: '',
  revision: '',
});
const rule = (id: string, when: object, then: readonly object[]): StoredDefinition =>
  kept('pipeline-rules', id, { title: id, when, then });
const pipeline = (id: string, stages: readonly Stage[]): StoredDefinition =>
  kept('pipelines', id, { title: id, stages });
const connect = (stream: string, ...pipelines: readonly string[]): StoredDefinition =>
  kept('connections', stream, { pipelines });
const streams = [{ id: 'x' }, { id: 'y' }];

function ran(
  objects: readonly StoredDefinition[],
  before: LogDocument,
): { readonly document: LogDocument; readonly streams: readonly string[]; readonly dropped: boolean } {
  const rules = pipelineRules(objects).map((derived) => derived.rule);
  const { document, routing } = run(compiled({ ...(rules.length === 0 ? {} : { rules }), streams }), before);
  return { document: present(document), streams: routing.streams, dropped: routing.dropped };
}

const exists = (field: string) => ({ field, exists: true });
const set = (field: string, value: string) => ({ set: { field, value } });

t.test('a rule does nothing until a pipeline that names it is connected', async (t) => {
  const objects = [
    rule('r', exists('a'), [set('b', 'yes')]),
    pipeline('p', [{ stage: 0, match: 'either', rules: ['r'] }]),
  ];
  t.strictSame(ran(objects, { a: '1' }).document, { a: '1' });
  t.strictSame(ran([...objects, connect('all-messages', 'p')], { a: '1' }).document, { a: '1', b: 'yes' });
  t.strictSame(ran([...objects, connect('all-messages')], { a: '1' }).document, { a: '1' });
});

t.test('within a stage all conditions are tested before the first action', async (t) => {
  const objects = [
    rule('r1', exists('a'), [{ remove: { fields: ['a'] } }, set('b', 'from r1')]),
    rule('r2', exists('a'), [set('c', 'yes')]),
    rule('r3', exists('b'), [set('d', 'no')]),
    pipeline('p', [{ stage: 0, match: 'either', rules: ['r1', 'r2', 'r3'] }]),
    connect('all-messages', 'p'),
  ];
  t.strictSame(ran(objects, { a: '1' }).document, { b: 'from r1', c: 'yes' });
  t.strictSame(
    ran(objects, { a: '1', 'sluice_pipeline_rule_0-0-0-2': 'sent' }).document,
    { b: 'from r1', c: 'yes' },
    'what a sender sends under the names of marks counts for nothing',
  );
});

t.test('stages of several pipelines run by their numbers', async (t) => {
  const copy = (id: string, from: string, to: string) => rule(id, exists(from), [{ copy: { from, to } }]);
  const objects = [
    copy('one', 'a', 'b'),
    copy('two', 'b', 'c'),
    copy('three', 'c', 'd'),
    pipeline('p', [{ stage: 5, match: 'pass', rules: ['two'] }]),
    pipeline('q', [
      { stage: -1, match: 'either', rules: ['one'] },
      { stage: 7, match: 'all', rules: ['three'] },
    ]),
    connect('all-messages', 'p', 'q'),
  ];
  t.strictSame(ran(objects, { a: '1' }).document, { a: '1', b: '1', c: '1', d: '1' });
});

t.test('pipelines of a stream run for what pipelines route to it, and may route on', async (t) => {
  const objects = [
    rule('to-x', exists('a'), [{ route: { stream: 'x' } }]),
    rule('in-x', { always: true }, [set('seen', 'x'), { route: { stream: 'y' } }]),
    rule('in-y', { always: true }, [set('also', 'y'), { leave_default_stream: true }]),
    pipeline('p', [{ stage: 0, match: 'either', rules: ['to-x'] }]),
    pipeline('px', [{ stage: 0, match: 'either', rules: ['in-x'] }]),
    pipeline('py', [{ stage: 0, match: 'either', rules: ['in-y'] }]),
    connect('y', 'py'),
    connect('x', 'px'),
    connect('all-messages', 'p'),
  ];
  t.strictSame(ran(objects, { a: '1' }), {
    document: { a: '1', seen: 'x', also: 'y' },
    streams: ['x', 'y'],
    dropped: false,
  });
  t.strictSame(ran(objects, { b: '1' }), { document: { b: '1' }, streams: ['all-messages'], dropped: false });
});

t.test('what does not fit together is named', async (t) => {
  const circle = [
    rule('to-x', { always: true }, [{ route: { stream: 'x' } }]),
    rule('to-y', { always: true }, [{ route: { stream: 'y' } }]),
    pipeline('px', [{ stage: 0, match: 'either', rules: ['to-y'] }]),
    pipeline('py', [{ stage: 0, match: 'either', rules: ['to-x'] }]),
    connect('x', 'px'),
    connect('y', 'py'),
  ];
  t.match(pipelineProblems(circle[5] as StoredDefinition, circle), [
    { message: /^The pipelines of 2 streams route to each other in a circle/ },
  ]);
  t.ok(pipelineRules(circle).length > 0, 'and comes to rules all the same');
  t.match(pipelineProblems(pipeline('p', [{ stage: 0, match: 'all', rules: ['none'] }]), circle), [
    { field: 'source', message: /no pipeline rule "none"/ },
  ]);
  t.match(pipelineProblems(connect('x', 'none'), circle), [{ field: 'pipeline_ids', message: /no pipeline none/ }]);
  t.match(pipelineProblems(rule('other', {}, []), [...circle, kept('pipeline-rules', 'another', { title: 'other' })]), [
    { field: 'title' },
  ]);
  t.same(pipelineProblems(kept('streams', 's', {}), circle), []);
});

/** The meaning in plain code. */
interface PlainRule {
  readonly reads: string;
  readonly wanted: boolean;
  readonly then: readonly (
    | readonly ['set', string]
    | readonly ['remove', string]
    | readonly ['route', string]
    | readonly ['drop']
  )[];
}
interface PlainStage {
  readonly number: number;
  readonly match: Stage['match'];
  readonly rules: readonly PlainRule[];
}

function plainly(pipelines: readonly (readonly PlainStage[])[], before: LogDocument): ReturnType<typeof ran> {
  const document: Record<string, unknown> = { ...before };
  const routed = new Set<string>();
  const going = pipelines.map(() => true);
  const numbers = [...new Set(pipelines.flat().map(({ number }) => number))].sort((left, right) => left - right);
  for (const number of numbers) {
    for (const [index, stages] of pipelines.entries()) {
      const stage = stages.find((one) => one.number === number);
      if (stage === undefined || going[index] !== true) continue;
      const held = stage.rules.map(({ reads, wanted }) => (document[reads] !== undefined) === wanted);
      for (const [place, { then }] of stage.rules.entries()) {
        if (held[place] !== true) continue;
        for (const [action, name] of then) {
          if (action === 'drop') return { document: document as LogDocument, streams: [], dropped: true };
          if (action === 'set') document[name] = 'new';
          else if (action === 'remove') Reflect.deleteProperty(document, name);
          else routed.add(name);
        }
      }
      going[index] =
        stage.match === 'pass' ||
        stage.rules.length === 0 ||
        (stage.match === 'all' ? held.every(Boolean) : held.some(Boolean));
    }
  }
  return { document: document as LogDocument, streams: ['all-messages', ...[...routed].sort()], dropped: false };
}

const field = fc.constantFrom('a', 'b', 'c', 'd');
const action = fc.oneof(
  { weight: 4, arbitrary: field.map((name) => ['set', name] as const) },
  { weight: 4, arbitrary: field.map((name) => ['remove', name] as const) },
  { weight: 2, arbitrary: fc.constantFrom('x', 'y').map((name) => ['route', name] as const) },
  { weight: 1, arbitrary: fc.constant(['drop'] as const) },
);
const plainRule: fc.Arbitrary<PlainRule> = fc.record({
  reads: field,
  wanted: fc.boolean(),
  then: fc.array(action, { maxLength: 3 }),
});
const plainStages: fc.Arbitrary<readonly PlainStage[]> = fc.uniqueArray(
  fc.record({
    number: fc.integer({ min: -1, max: 2 }),
    match: fc.constantFrom('all', 'either', 'pass'),
    rules: fc.array(plainRule, { maxLength: 3 }),
  }),
  { selector: ({ number }) => number, maxLength: 3 },
);
const translatedAction = ([name, of]: PlainRule['then'][number]): object =>
  name === 'set'
    ? set(of, 'new')
    : name === 'remove'
      ? { remove: { fields: [of] } }
      : name === 'route'
        ? { route: { stream: of } }
        : { drop: true };

t.test('random pipelines and messages: as the plain meaning', async (t) => {
  fc.assert(
    fc.property(
      fc.array(plainStages, { minLength: 1, maxLength: 2 }),
      fc.array(fc.subarray(['a', 'b', 'c', 'd']), { minLength: 1, maxLength: 4 }),
      (plain, messages) => {
        const rules: StoredDefinition[] = [];
        const objects = plain.map((stages, index) =>
          pipeline(
            `p${index}`,
            [...stages]
              .sort((left, right) => left.number - right.number)
              .map(({ number, match, rules: ofStage }) => ({
                stage: number,
                match,
                rules: ofStage.map(({ reads, wanted, then }) => {
                  const id = `r${rules.length}`;
                  rules.push(rule(id, { field: reads, exists: wanted }, then.map(translatedAction)));
                  return id;
                }),
              })),
          ),
        );
        const all = [...rules, ...objects, connect('all-messages', ...objects.map(({ id }) => id))];
        for (const fields of messages) {
          const before = Object.fromEntries(fields.map((name) => [name, 'old']));
          const [wanted, got] = [plainly(plain, before), ran(all, before)];
          t.equal(got.dropped, wanted.dropped);
          if (!wanted.dropped) t.strictSame(got, wanted, JSON.stringify({ plain, before }));
        }
      },
    ),
    { seed: 12, numRuns: 400 },
  );
});
