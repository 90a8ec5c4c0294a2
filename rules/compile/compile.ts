/** Rule files → a rule set, as a whole or not at all. */
import { at } from '../../core/at.js';
import { channel } from 'node:diagnostics_channel';
import type { RuleFileRule } from '../../schemas/rule-files.js';
import type { Action, ActionPlace } from '../actions/define.js';
import { actionsByName } from '../actions/registry.js';
import { buildCondition } from './condition.js';
import { never } from '../conditions/define.js';
import type { RuleSet, RuleSource } from '../contract.js';
import { joinDefinitions, type Definition } from '../language/join.js';
import { createEngine } from '../engine/engine.js';
import { buildIndexSets } from './index-sets.js';
import { buildObfuscation, type ObfuscationSettings } from './obfuscation.js';
import { buildOutputs } from './outputs.js';
import { parseRuleFiles, type ParsedFile } from '../language/parse.js';
import { didYouMean, shown, type Place, type Problem } from '../problems.js';
import { createProgram, leavesDefault, rememberProgram, type CompiledRule } from '../engine/program.js';
import { buildRoles } from './roles.js';
import { versionOf } from '../loading/source.js';
import { buildStreams } from './streams.js';

export type Compiled = { readonly ruleSet: RuleSet } | { readonly problems: readonly Problem[] };

export interface CompileOptions {
  /**
   * Streams that roles may name although they are not there. `all`: for those who route messages, which no role
   * changes. Default: none.
   */
  readonly rolesMayName?: 'all' | ReadonlySet<string> | undefined;
}

/** Told of each compilation, for tests and tracing. */
const compilations = channel('sluice:rules:compile');

export function compileRules(source: RuleSource, options: CompileOptions = {}): Compiled {
  if (compilations.hasSubscribers) compilations.publish({ files: source.files.map(({ name }) => name) });
  const problems: Problem[] = [];
  const files = parseRuleFiles(source, problems);
  // What refers to a file that cannot be read would be reported as missing, so the cross-references wait.
  if (problems.length > 0) return { problems };
  const ruleSet = compileFiles(source, files, problems, options);
  return problems.length > 0 ? { problems: inOrder(problems, source) } : { ruleSet };
}

function compileFiles(
  source: RuleSource,
  files: readonly ParsedFile[],
  problems: Problem[],
  { rolesMayName }: CompileOptions,
): RuleSet {
  const indexSets = buildIndexSets(joinDefinitions('index_sets', files, problems));
  const streamDefinitions = joinDefinitions('streams', files, problems);
  const streams = buildStreams(streamDefinitions, indexSets);
  const streamIds = streams.map((stream) => stream.definition.id);
  const outputs = buildOutputs(joinDefinitions('outputs', files, problems), streamDefinitions, streamIds);
  const roles = buildRoles(joinDefinitions('roles', files, problems), streamIds, rolesMayName);
  const obfuscation = buildObfuscation(files, streamIds, problems);
  const definitions = joinDefinitions('rules', files, problems);
  const ids = definitions.map(({ id }) => id);
  const rules = definitions.map((definition) => buildRule(definition, ids, streamIds, obfuscation));
  const version = versionOf(source);
  const program = createProgram({ version, source, rules, streams, indexSets, obfuscation: obfuscation.compiled });
  const { apply, takeCounts } = createEngine(program);
  const ruleSet: RuleSet = {
    version,
    source,
    streams: streams.map((stream) => stream.definition),
    indexSets,
    outputs,
    roles,
    apply,
    takeCounts,
  };
  return rememberProgram(ruleSet, program);
}

function buildRule(
  { id, settings, place, placeOf }: Definition<RuleFileRule>,
  ids: readonly string[],
  streams: readonly string[],
  obfuscation: ObfuscationSettings,
): CompiledRule {
  if (settings.when === undefined && settings.then === undefined) {
    place.report('The rule has neither `when` nor `then`, and no earlier file has a rule of this id.', {
      got: shown(id),
      suggestion: didYouMean(
        id,
        ids.filter((other) => other !== id),
      ),
    });
  } else if (settings.when === undefined)
    place.report('The key `when` is missing.', {
      got: shown(id),
      allowed: 'a condition; `when: {always: true}` for every message',
    });
  else if (settings.then === undefined)
    place.report('The key `then` is missing.', { got: shown(id), allowed: 'a list of actions' });
  return {
    id,
    file: place.file,
    description: settings.description ?? '',
    enabled: settings.enabled ?? true,
    condition: settings.when === undefined ? never : buildCondition(settings.when, placeOf('when')),
    actions: (settings.then ?? []).map((action, index) =>
      buildAction(action, placeOf('then').at(index), streams, obfuscation),
    ),
  };
}

/** The schema has seen to it that there is exactly one key, and that it is an action. */
function buildAction(
  value: Readonly<Record<string, unknown>>,
  place: Place,
  streams: readonly string[],
  obfuscation: ObfuscationSettings,
): Action {
  const name = at(Object.keys(value), 0);
  const below = place.at(name);
  const actionPlace: ActionPlace = {
    ...below,
    stream: (id, place) => {
      const number = streams.indexOf(id);
      if (number >= 0) return number;
      place.report('There is no stream of this id.', {
        got: shown(id),
        allowed: streams.join(', '),
        suggestion: didYouMean(id, streams),
        confidential: true,
      });
      return undefined;
    },
    leavesDefault: leavesDefault(streams),
    obfuscator: obfuscation.select,
  };
  const entry = actionsByName.get(name);
  if (entry === undefined) throw new TypeError(`The schema let an unknown action pass: ${name}`);
  return entry.build(value[name], actionPlace);
}

function inOrder(problems: readonly Problem[], source: RuleSource): readonly Problem[] {
  const places = new Map(source.files.map(({ name }, place) => [name, place]));
  return [...problems].sort(
    (left, right) =>
      (places.get(left.file) ?? 0) - (places.get(right.file) ?? 0) ||
      left.line - right.line ||
      left.column - right.column,
  );
}
