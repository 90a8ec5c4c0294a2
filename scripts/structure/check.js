/** Runs the rules over a tree. */
import { rules } from './rules.js';
import { readTree } from './tree.js';

/** By rule: problems (they fail), warnings, figures, and details for who asks for that rule alone. */
export function checkTree(root, only) {
  const tree = readTree(root);
  return rules
    .filter(({ name }) => only === undefined || name === only)
    .map(({ name, check }) => ({ name, warnings: [], details: [], ...check(tree) }));
}
