/**
 * A Graylog pipeline rule → a condition and actions as rule files have them. What is not supported is refused with its
 * place.
 */
import { isSluiceError } from '../../../core/errors.js';
import type { Settings } from '../../stored.js';
import { textProblemsOf, type KnownNames, type TextProblem, type TranslatedRule } from '../contract.js';
import { translateStatement } from './actions.js';
import { conditionOf } from './conditions.js';
import { parseRule } from './parse-rule.js';
import { forEachChecked, type Translating } from './translating.js';

/** Throws OBJECT_TEXT_INVALID with everything that is wrong. */
export function translateRule(source: string, known: KnownNames): TranslatedRule {
  const { name, when, then } = parseRule(source);
  const translating: Translating = { known, actions: [], variables: new Map(), temporary: 0 };
  let condition: Settings = {};
  const steps = [
    () => {
      condition = conditionOf(when, known);
    },
    ...then.map((statement) => () => translateStatement(statement, translating)),
  ];
  forEachChecked(steps, (step) => step(), problemsIn);
  return { name, when: condition, then: translating.actions };
}

function problemsIn(error: unknown): readonly TextProblem[] {
  if (isSluiceError(error) && error.code === 'OBJECT_TEXT_INVALID') return textProblemsOf(error);
  throw error;
}
