/** Which fields the documents of a query have. */
import type { ScanRequest } from '../../../../schemas/query.js';
import { conditionSql } from '../sql/condition-sql.js';
import type { Reading } from './reading.js';
import { SqlParameters } from '../sql/value-sql.js';

export async function occurringFields(
  { connection, indices }: Reading,
  request: Pick<ScanRequest, 'query' | 'from' | 'to'>,
): Promise<Set<string>> {
  const names = new Set<string>();
  for (const { file } of indices) {
    const parameters = new SqlParameters();
    const columns = file.columns();
    const condition = conditionSql(file.fields, request, parameters);
    const there = columns.map(
      ({ slot, kind }) =>
        `coalesce(bool_or(c${slot} IS NOT NULL${kind === 'list' ? ` AND c${slot} <> '[]'` : ''}), false)`,
    );
    const { sql, values } = parameters.statement(
      `SELECT ${there.join(', ')}, list_distinct(flatten(list(json_keys(other_fields)))) FROM ${file.alias}.documents WHERE ${condition}`,
    );
    const row = (await connection.runAndReadAll(sql, values)).getRows()[0] ?? [];
    columns.forEach(({ name }, at) => {
      if (row[at] === true) names.add(name);
    });
    const others = row[columns.length] as { readonly items?: readonly unknown[] } | null;
    for (const name of others?.items ?? []) if (typeof name === 'string') names.add(name);
  }
  return names;
}
