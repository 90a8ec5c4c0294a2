/** Streams of the rule files: definitions and the conditions that fill them. */
import type { RuleFileStream, RuleFileStreamRule } from '../../schemas/rule-files.js';
import { allOf } from '../conditions/all.js';
import { oneHolds } from '../conditions/any.js';
import { everyMessage } from '../conditions/always.js';
import { buildCondition } from './condition.js';
import { containing } from '../conditions/contains.js';
import { never, type Condition } from '../conditions/define.js';
import { equalTo } from '../conditions/equals.js';
import { presence } from '../conditions/exists.js';
import { fromReceiver } from '../conditions/input.js';
import { negation } from '../conditions/not.js';
import { comparing, notComparing, type Comparison } from '../conditions/comparing/number.js';
import { finding } from '../conditions/regex.js';
import type { StreamDefinition } from '../contract.js';
import type { IndexSetDefinition } from '../../schemas/index-sets.js';
import type { Definition } from '../language/join.js';
import { numberOf } from '../fields.js';
import { defaultIndexSet } from './index-sets.js';
import { compilePattern } from '../pattern.js';
import { didYouMean, shown, type Place } from '../problems.js';

/** Every message begins in this stream. */
export const defaultStream = 'all-messages';

export interface CompiledStream {
  readonly definition: StreamDefinition;
  readonly file: string;
  readonly onlyWithinDefault: boolean;
  /** `never` where only the action route fills the stream. */
  readonly condition: Condition;
}

export function buildStreams(
  definitions: readonly Definition<RuleFileStream>[],
  indexSets: readonly IndexSetDefinition[],
): readonly CompiledStream[] {
  const sets = indexSets.map((set) => set.id);
  const streams = definitions.map((definition) => buildStream(definition, sets));
  const byDefault = definitions.find((definition) => definition.id === defaultStream);
  if (byDefault?.settings.enabled === false)
    byDefault.placeOf('enabled').report('All messages cannot be switched off: it holds what no other stream takes.', {
      got: 'false',
      allowed: 'true',
    });
  if (byDefault?.settings.remove_matches_from_default_stream === true)
    byDefault
      .placeOf('remove_matches_from_default_stream')
      .report('All messages is the default stream itself.', { got: 'true', allowed: 'false' });
  if (byDefault === undefined) {
    return [fallbackDefault(sets[0] ?? defaultIndexSet, sets), ...streams];
  }
  return streams;
}

/** Rule files without the shipped ones still need a place for every message. */
function fallbackDefault(first: string, sets: readonly string[]): CompiledStream {
  const definition: StreamDefinition = {
    id: defaultStream,
    title: 'All messages',
    description: '',
    index_set: sets.includes(defaultIndexSet) ? defaultIndexSet : first,
    remove_matches_from_default_stream: false,
    enabled: true,
  };
  return { definition, file: '', onlyWithinDefault: false, condition: everyMessage };
}

function buildStream(
  { id, settings, place, placeOf }: Definition<RuleFileStream>,
  sets: readonly string[],
): CompiledStream {
  const indexSet = settings.index_set ?? defaultIndexSet;
  if (!sets.includes(indexSet))
    placeOf('index_set').report('There is no index set of this id.', {
      got: shown(indexSet),
      allowed: sets.join(', '),
      suggestion: didYouMean(indexSet, sets),
    });
  const both = settings.when !== undefined && settings.rules !== undefined;
  if (both) placeOf('rules').report('A stream has `when` or `rules`, not both.');
  return {
    definition: {
      id,
      title: settings.title ?? id,
      description: settings.description ?? '',
      index_set: indexSet,
      remove_matches_from_default_stream: settings.remove_matches_from_default_stream ?? false,
      enabled: settings.enabled ?? true,
    },
    file: place.file,
    onlyWithinDefault: settings.only_within_default_stream ?? false,
    condition: conditionOf(id, settings, placeOf),
  };
}

function conditionOf(id: string, settings: RuleFileStream, placeOf: (key: keyof RuleFileStream) => Place): Condition {
  if (id === defaultStream) return everyMessage;
  if (settings.when !== undefined) return buildCondition(settings.when, placeOf('when'));
  if (settings.rules === undefined || settings.rules.length === 0) return never;
  const rules = settings.rules.map((rule, index) => streamRule(rule, placeOf('rules').at(index)));
  return settings.matching_type === 'OR' ? oneHolds(rules) : allOf(rules);
}

/**
 * Truth table of stream rules: greater and smaller never match what is no number, inverted or not; every other kind
 * inverts plainly.
 */
function streamRule(rule: RuleFileStreamRule, place: Place): Condition {
  const { type, field = '', inverted = false } = rule;
  if (type !== 'always' && type !== 'input' && field === '') place.report(`A rule of type ${type} needs \`field\`.`);
  const wanted = rule.value === undefined ? '' : String(rule.value);
  if (type !== 'always' && type !== 'presence' && wanted === '')
    place.report(`A rule of type ${type} needs \`value\`.`, { got: shown(rule.value) });
  if (type === 'greater' || type === 'smaller')
    return numberRule(type === 'greater' ? 'greater' : 'less', field, rule, place);
  const plain = plainRule(rule.type, field, wanted, place);
  return inverted ? negation(plain) : plain;
}

function numberRule(comparison: Comparison, field: string, rule: RuleFileStreamRule, place: Place): Condition {
  const limit = numberOf(rule.value);
  if (Number.isNaN(limit)) {
    place
      .at('value')
      .report('Only numbers can be greater or smaller.', { got: shown(rule.value), allowed: 'a number' });
    return never;
  }
  return rule.inverted === true ? notComparing(field, comparison, limit) : comparing(field, comparison, limit);
}

function plainRule(type: RuleFileStreamRule['type'], field: string, wanted: string, place: Place): Condition {
  switch (type) {
    case 'exact':
      return equalTo(field, wanted, false);
    case 'contains':
      return containing(field, wanted);
    case 'presence':
      return presence(field, true);
    case 'input':
      return fromReceiver(wanted);
    case 'regex': {
      const pattern = compilePattern(wanted);
      if (!('error' in pattern)) return finding(field, pattern);
      place.at('value').report(`The pattern cannot be compiled: ${pattern.error}.`, {
        got: shown(wanted),
        allowed: 'RE2 syntax, without look-around and back-references',
      });
      return never;
    }
    default:
      return everyMessage;
  }
}
