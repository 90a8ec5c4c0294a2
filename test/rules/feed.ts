/** Rules that change when a test says so. */
import type { RuleSet, RuleSetChange, RuleSetFeed } from '../../rules/contract.js';

interface TestFeed extends RuleSetFeed {
  change(ruleSet: RuleSet): void;
}

export function createFeed(first: RuleSet): TestFeed {
  const subscribers = new Set<(change: RuleSetChange) => void>();
  let current = first;
  return {
    load: () => Promise.resolve(current),
    subscribe(_known, onChange) {
      subscribers.add(onChange);
      return () => void subscribers.delete(onChange);
    },
    change(ruleSet) {
      current = ruleSet;
      for (const subscriber of subscribers) subscriber({ ruleSet });
    },
  };
}
