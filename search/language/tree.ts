/** Builds trees in their simplest form: no `and` within `and`, no single child, no constants below the root. */
import type { QueryNode } from '../../schemas/query.js';

/** One that looks at documents itself. */
export type Clause = Extract<QueryNode, { readonly field: string | undefined }>;

export const all: QueryNode = { kind: 'all' };
export const none: QueryNode = { kind: 'none' };

export function and(nodes: readonly QueryNode[]): QueryNode {
  return join('and', nodes, 'all', 'none');
}

export function or(nodes: readonly QueryNode[]): QueryNode {
  return join('or', nodes, 'none', 'all');
}

export function not(node: QueryNode): QueryNode {
  if (node.kind === 'not') return node.child;
  if (node.kind === 'all') return none;
  return node.kind === 'none' ? all : { kind: 'not', child: node };
}

function join(
  kind: 'and' | 'or',
  nodes: readonly QueryNode[],
  neutral: 'all' | 'none',
  deciding: 'all' | 'none',
): QueryNode {
  const children: QueryNode[] = [];
  for (const node of nodes) {
    if (node.kind === deciding) return node;
    if (node.kind === neutral) continue;
    if (node.kind === kind) for (const child of node.children) children.push(child);
    else children.push(node);
  }
  const only = children[0];
  if (only === undefined) return { kind: neutral };
  return children.length === 1 ? only : { kind, children };
}

/** Every single clause replaced by what `change` makes of it. */
export function mapClauses(node: QueryNode, change: (clause: Clause) => QueryNode): QueryNode {
  if (node.kind === 'and') return and(node.children.map((child) => mapClauses(child, change)));
  if (node.kind === 'or') return or(node.children.map((child) => mapClauses(child, change)));
  if (node.kind === 'not') return not(mapClauses(node.child, change));
  return 'field' in node ? change(node) : node;
}
