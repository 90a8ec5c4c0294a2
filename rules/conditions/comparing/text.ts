/** The conditions that compare a part of a field's text. */
import { Type } from 'typebox';
import { fieldReader, textOf } from '../../fields.js';
import { defineCondition, type Condition, type ConditionEntry, type ConditionExample } from '../define.js';

interface TextCondition {
  readonly name: string;
  readonly description: string;
  /** `contains`, as it reads between field and value. */
  readonly verb: string;
  readonly example: ConditionExample;
  readonly holds: (text: string, wanted: string) => boolean;
}

/** A schema whose value is text; numbers and booleans are taken by their text. */
export function defineTextCondition(definition: TextCondition): ConditionEntry {
  return defineCondition({
    ...definition,
    takesField: true,
    takesIgnoreCase: true,
    schema: Type.Union([Type.String({ minLength: 1 }), Type.Number(), Type.Boolean()], {
      description: definition.description,
    }),
    build: (value, place) => textCondition(definition, place.field, String(value), place.ignoreCase),
  });
}

export function textCondition(
  { verb, holds }: Pick<TextCondition, 'verb' | 'holds'>,
  field: string,
  wanted: string,
  ignoreCase: boolean,
): Condition {
  const read = fieldReader(field);
  const folded = wanted.toLowerCase();
  return {
    text: `${field} ${verb} ${JSON.stringify(wanted)}${ignoreCase ? ' in any case' : ''}`,
    field,
    children: [],
    requirements: [[ignoreCase ? { kind: 'exists', field } : { kind: 'literal', field, literals: [wanted] }]],
    test: ignoreCase
      ? (document) => {
          const value = read(document);
          return value !== undefined && holds(textOf(value).toLowerCase(), folded);
        }
      : (document) => {
          const value = read(document);
          return value !== undefined && holds(textOf(value), wanted);
        },
  };
}
