/**
 * Pipelines as people connect them to streams → rules, in the order in which they take effect. A pure function of what
 * is stored, so that every process comes to the same. Stages run in the order of their numbers over all pipelines of a
 * stream; within a stage all conditions are tested before the first action; the next stage runs as `match` says.
 */
import { at } from '../../core/at.js';
import type { StoredDefinition, StoredDefinitions, Settings } from '../stored.js';
import { defaultStream, pipelineIdsOf, stagesOf, titleOf, type DerivedRule, type Stage } from './contract.js';
import { readFields } from './pipeline-rules/reads.js';
import { writtenFields } from './pipeline-rules/values.js';

const actionsOf = ({ definition }: StoredDefinition): readonly Settings[] =>
  (definition['then'] as readonly Settings[] | undefined) ?? [];
const conditionOf = ({ definition }: StoredDefinition): Settings => definition['when'] as Settings;
/** Fields that are there only between two stages. */
const markPrefix = 'sluice_pipeline_';

interface Building {
  readonly stored: StoredDefinitions;
  readonly rulesByTitle: ReadonlyMap<string, StoredDefinition>;
  /** Of streams other than the default one that pipelines are connected to. */
  readonly streamMarks: ReadonlyMap<string, string>;
  readonly derived: DerivedRule[];
  readonly marks: string[];
}

/**
 * Streams that pipelines are connected to: the default one first, each of the others behind those whose pipelines route
 * to it.
 */
export function connectedStreams(stored: StoredDefinitions): {
  readonly order: readonly StoredDefinition[];
  readonly circle: readonly string[];
} {
  const rulesByTitle = rulesIn(stored);
  const waiting = stored.filter((object) => object.kind === 'connections' && pipelineIdsOf(object).length > 0);
  const order: StoredDefinition[] = [];
  while (waiting.length > 0) {
    const place = waiting.findIndex(
      (one) =>
        one.id === defaultStream ||
        !waiting.some(
          (other) => other !== one && other.id !== defaultStream && routes(other, one.id, stored, rulesByTitle),
        ),
    );
    const next = waiting.find(({ id }) => id === defaultStream) ?? waiting[place];
    if (next === undefined) return { order: [...order, ...waiting], circle: waiting.map(({ id }) => id) };
    order.push(next);
    waiting.splice(waiting.indexOf(next), 1);
  }
  return { order, circle: [] };
}

function routes(
  connection: StoredDefinition,
  stream: string,
  stored: StoredDefinitions,
  rulesByTitle: ReadonlyMap<string, StoredDefinition>,
): boolean {
  return pipelinesOf(connection, stored).some((pipeline) =>
    rulesOfStages(pipeline, rulesByTitle).some((rule) =>
      actionsOf(rule).some((action) => routedStream(action) === stream),
    ),
  );
}

const routedStream = (action: Settings): string | undefined =>
  (action['route'] as { readonly stream?: string } | undefined)?.stream;
const rulesIn = (stored: StoredDefinitions): ReadonlyMap<string, StoredDefinition> =>
  new Map(stored.filter(({ kind }) => kind === 'pipeline-rules').map((rule) => [titleOf(rule), rule]));

function pipelinesOf(connection: StoredDefinition, stored: StoredDefinitions): readonly StoredDefinition[] {
  const ids = new Set(pipelineIdsOf(connection));
  return stored.filter(({ kind, id }) => kind === 'pipelines' && ids.has(id));
}

function rulesOfStages(
  pipeline: StoredDefinition,
  rulesByTitle: ReadonlyMap<string, StoredDefinition>,
): readonly StoredDefinition[] {
  return stagesOf(pipeline).flatMap(({ rules }) => rules.flatMap((name) => rulesByTitle.get(name) ?? []));
}

const known = new WeakMap<StoredDefinitions, readonly DerivedRule[]>();

export function pipelineRules(stored: StoredDefinitions): readonly DerivedRule[] {
  const found = known.get(stored) ?? build(stored);
  known.set(stored, found);
  return found;
}

function build(stored: StoredDefinitions): readonly DerivedRule[] {
  const { order } = connectedStreams(stored);
  const streamMarks = new Map(
    order.filter(({ id }) => id !== defaultStream).map(({ id }, place) => [id, `${markPrefix}stream_${place}`]),
  );
  const building: Building = {
    stored,
    rulesByTitle: rulesIn(stored),
    streamMarks,
    derived: [],
    marks: [...streamMarks.values()],
  };
  for (const [place, connection] of order.entries()) buildStream(building, connection, place);
  const { derived, marks } = building;
  const first = order[0];
  if (marks.length === 0 || first === undefined || derived.length === 0) return derived;
  // A sender may have sent fields of these names.
  const clean = (id: string): DerivedRule => ({
    rule: {
      id,
      description: 'Marks of stages are only there while pipelines run.',
      when: { any: marks.map(marked) },
      then: [{ remove: { fields: marks } }],
    },
    of: first,
  });
  return [clean('pipelines--begin'), ...derived, clean('pipelines--end')];
}

const marked = (field: string): Settings => ({ field, exists: true });

function buildStream(building: Building, connection: StoredDefinition, place: number): void {
  const mark = building.streamMarks.get(connection.id);
  const pipelines = pipelinesOf(connection, building.stored).map((pipeline) => ({
    pipeline,
    stages: stagesOf(pipeline),
    gate: mark === undefined ? undefined : marked(mark),
  }));
  const numbers = [...new Set(pipelines.flatMap(({ stages }) => stages.map(({ stage }) => stage)))].sort(
    (left, right) => left - right,
  );
  for (const number of numbers) {
    for (const [index, running] of pipelines.entries()) {
      const offset = running.stages.findIndex(({ stage }) => stage === number);
      if (offset >= 0)
        running.gate = buildStage(building, { ...running, at: offset, name: `${place}-${index}-${offset}` });
    }
  }
}

interface RunningStage {
  readonly pipeline: StoredDefinition;
  readonly stages: readonly Stage[];
  readonly at: number;
  readonly gate: Settings | undefined;
  /** Unlike that of any other stage. */
  readonly name: string;
}

/** Answers the condition on which the next stage of this pipeline runs. */
function buildStage(building: Building, running: RunningStage): Settings | undefined {
  const { pipeline, stages, at: offset, gate, name } = running;
  const { match, rules: names } = at(stages, offset);
  const rules = names.flatMap((title) => building.rulesByTitle.get(title) ?? []);
  const next = nextGate(building, running, match, rules);
  const conditions = markConflicts(building, running, rules);
  for (const [index, rule] of rules.entries()) {
    const { condition, before } = at(conditions, index);
    const then = [...before, ...actionsOf(rule).flatMap((action) => withStreamMark(action, building.streamMarks))];
    if (then.length === 0) continue;
    building.derived.push({
      of: rule,
      rule: {
        id: `pipeline--${name}-${index}--${rule.id.slice(0, 60)}`,
        description: `Rule ${titleOf(rule)} of the pipeline ${titleOf(pipeline)}, stage ${stages[offset]?.stage ?? 0}.`,
        when: before.length > 0 ? condition : both(gate, condition),
        then,
      },
    });
  }
  return next;
}

function nextGate(
  { derived, marks }: Building,
  { pipeline, stages, at: offset, gate, name }: RunningStage,
  match: Stage['match'],
  rules: readonly StoredDefinition[],
): Settings | undefined {
  if (offset === stages.length - 1 || match === 'pass' || rules.length === 0) return gate;
  const mark = `${markPrefix}stage_${name}`;
  marks.push(mark);
  const when = both(gate, { [match === 'all' ? 'all' : 'any']: rules.map(conditionOf) });
  derived.push({
    of: pipeline,
    rule: {
      id: `pipeline--${name}--next`,
      description: `Whether the pipeline ${titleOf(pipeline)} goes on behind stage ${stages[offset]?.stage ?? 0}.`,
      when,
      then: [{ set: { field: mark, value: true } }],
    },
  });
  return marked(mark);
}

/**
 * Where an action writes what a later condition of the stage reads, all conditions are tested first and remembered in
 * marks.
 */
function markConflicts(
  { derived, marks }: Building,
  { gate, name }: RunningStage,
  rules: readonly StoredDefinition[],
): readonly { readonly condition: Settings; readonly before: readonly Settings[] }[] {
  if (!rules.some((rule, index) => rules.slice(index + 1).some((later) => conflicts(rule, later))))
    return rules.map((rule) => ({ condition: conditionOf(rule), before: [] }));
  return rules.map((rule, index) => {
    const mark = `${markPrefix}rule_${name}-${index}`;
    marks.push(mark);
    derived.push({
      of: rule,
      rule: {
        id: `pipeline--${name}-${index}--test`,
        description: `Whether the rule ${titleOf(rule)} holds, before actions of its stage.`,
        when: both(gate, conditionOf(rule)),
        then: [{ set: { field: mark, value: true } }],
      },
    });
    return { condition: marked(mark), before: [{ remove: { fields: [mark] } }] };
  });
}

function conflicts(earlier: StoredDefinition, later: StoredDefinition): boolean {
  const read = readFields(conditionOf(later));
  return actionsOf(earlier).some((action) => {
    const written = writtenFields(action);
    return written === 'unknown' ? read.size > 0 : written.some((field) => read.has(field));
  });
}

function both(gate: Settings | undefined, condition: Settings): Settings {
  return gate === undefined ? condition : { all: [gate, condition] };
}

function withStreamMark(action: Settings, marks: ReadonlyMap<string, string>): readonly Settings[] {
  const mark = marks.get(routedStream(action) ?? '');
  return mark === undefined ? [action] : [action, { set: { field: mark, value: true } }];
}
