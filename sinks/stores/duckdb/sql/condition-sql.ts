/** The condition of a search: its query and range of time. */
import { textFields } from '../../../../schemas/words.js';
import type { QueryNode, SearchRequest } from '../../../../schemas/query.js';
import type { FieldTable } from '../files/fields.js';
import { querySql } from './query-sql.js';
import { numberSql, type SqlParameters } from './value-sql.js';

export type Condition = Pick<SearchRequest, 'query' | 'from' | 'to'>;

export function conditionSql(fields: FieldTable, request: Condition, parameters: SqlParameters): string {
  return [querySql(request.query, { fields, parameters }), ...timesSql(timeColumn(fields), request)].join(' AND ');
}

export function timeColumn(fields: FieldTable): string {
  return `c${fields.get('timestamp')?.slot ?? 0}`;
}

export function timesSql(column: string, { from, to }: Pick<Condition, 'from' | 'to'>): string[] {
  return [
    ...(from === undefined ? [] : [`${column} >= ${numberSql(from)}`]),
    ...(to === undefined ? [] : [`${column} < ${numberSql(to)}`]),
  ];
}

/** Whether to keep which rows match: where finding them is much work, or where they are likely few. */
export function isWorthRetaining(node: QueryNode): boolean {
  return readsTexts(node) || selects(node);
}

function selects(node: QueryNode): boolean {
  switch (node.kind) {
    case 'and':
      return node.children.some(selects);
    case 'or':
      return node.children.length > 0 && node.children.every(selects);
    case 'all':
    case 'none':
    case 'not':
      return false;
    default:
      return true;
  }
}

/**
 * Whether the condition looks into long texts, which is nearly all of the work; anything else is faster counted and
 * sorted apart.
 */
export function readsTexts(node: QueryNode): boolean {
  if (node.kind === 'and' || node.kind === 'or') return node.children.some(readsTexts);
  if (node.kind === 'not') return readsTexts(node.child);
  return 'field' in node && node.kind !== 'exists' && (node.field === undefined || textFields.has(node.field));
}
