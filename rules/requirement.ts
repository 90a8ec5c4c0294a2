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

/** At least one clause must hold; no clauses: it can never hold. */
type Requirement = readonly Clause[];

/** All of them must hold; none: nothing is known. */
export type Requirements = readonly Requirement[];

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

const total = (requirement: Requirement): number => requirement.reduce((sum, clause) => sum + looseness(clause), 0);

/**
 * A second requirement is looked up beside the first only when it is rarer met than this, because looking costs too.
 */
const worthLooking = 6;

/** What the index looks up of an entry: its strictest requirement, and a second one that is worth it. */
export function indexedRequirements(requirements: Requirements): Requirements {
  const [first, second] = byStrictness(requirements);
  if (first === undefined) return [];
  return second === undefined || total(second) > worthLooking ? [first] : [first, second];
}

/** The strictest first. */
function byStrictness(requirements: Requirements): Requirements {
  return requirements.length < 2 ? requirements : [...requirements].sort((left, right) => total(left) - total(right));
}

/** One of the conditions with these requirements must hold. */
export function anyOf(alternatives: readonly Requirements[]): Requirements {
  const clauses: Clause[] = [];
  for (const requirements of alternatives) {
    const [strictest] = byStrictness(requirements);
    if (strictest === undefined) return [];
    clauses.push(...strictest);
  }
  return [clauses];
}
