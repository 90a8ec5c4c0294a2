/** The conditions that compare numbers. */
import { fieldReader, numberOf } from '../../fields.js';
import type { Condition } from '../define.js';

export type Comparison = 'greater' | 'less';

export function comparing(field: string, comparison: Comparison, limit: number): Condition {
  const read = fieldReader(field);
  return {
    text: `${field} is ${comparison === 'greater' ? 'greater' : 'less'} than ${limit}`,
    field,
    children: [],
    requirements: [[{ kind: comparison, field, limit }]],
    test:
      comparison === 'greater'
        ? (document) => numberOf(read(document)) > limit
        : (document) => numberOf(read(document)) < limit,
  };
}

/** The inverted stream rule: still false where there is no number to compare. */
export function notComparing(field: string, comparison: Comparison, limit: number): Condition {
  const read = fieldReader(field);
  return {
    text: `${field} is a number not ${comparison === 'greater' ? 'greater' : 'less'} than ${limit}`,
    field,
    children: [],
    requirements: [[{ kind: 'exists', field }]],
    test:
      comparison === 'greater'
        ? (document) => numberOf(read(document)) <= limit
        : (document) => numberOf(read(document)) >= limit,
  };
}
