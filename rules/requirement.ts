/**
 * What must hold at the least before a condition can hold. The candidate index is built from it: an entry whose
 * requirement fails need not be looked at. A requirement may be weaker than its condition, never stronger.
 */
export type Clause =
  | { readonly kind: 'equals'; readonly field: string; readonly values: readonly string[] }
  | { readonly kind: 'greater' | 'less'; readonly field: string; readonly limit: number }
  /** The text of the field contains one of these. */
  | { readonly kind: 'literal'; readonly field: string; readonly literals: readonly string[] }
  | { readonly kind: 'exists'; readonly field: string };

/** At least one clause must hold; no clauses: it can never hold; undefined: nothing is known. */
export type Requirement = readonly Clause[] | undefined;

/** How many messages a clause lets through, roughly; less is better. */
function looseness(clause: Clause): number {
  switch (clause.kind) {
    case 'equals':
      return 1;
    case 'literal':
      return 20 / Math.min(10, ...clause.literals.map((literal) => literal.length));
    case 'greater':
    case 'less':
      return 10;
    case 'exists':
      return 20;
  }
}

/** All must hold, so any one of them is a requirement: the strictest. */
export function strictest(requirements: readonly Requirement[]): Requirement {
  let best: Requirement;
  let least = Number.POSITIVE_INFINITY;
  for (const requirement of requirements) {
    if (requirement === undefined) continue;
    const total = requirement.reduce((sum, clause) => sum + looseness(clause), 0);
    if (total < least) {
      least = total;
      best = requirement;
    }
  }
  return best;
}

/** One of them must hold. */
export function anyOf(requirements: readonly Requirement[]): Requirement {
  const clauses: Clause[] = [];
  for (const requirement of requirements) {
    if (requirement === undefined) return undefined;
    clauses.push(...requirement);
  }
  return clauses;
}
