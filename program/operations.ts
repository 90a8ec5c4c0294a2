/**
 * What people ask of index sets and dead letters in a process without the role processor. It takes nothing from the
 * topics, and makes no rules the ones in force.
 */
import type { IndexSetDefinition } from '../schemas/index-sets.js';
import { createRuleSets } from '../pipeline/ledger/rule-sets.js';
import { createStoreWork, type KnownSets, type StoreWork, type StoreWorkOptions } from './store-work.js';
import type { Ledger } from '../pipeline/ledger/ledger.js';

export interface Operations extends Pick<StoreWork, 'indexRequests' | 'deadLetters'> {
  stop(): Promise<void>;
}

export function createOperations(options: StoreWorkOptions): Operations {
  const { indexRequests, deadLetters, indexSets, stopping } = createStoreWork(options, (ledger) =>
    setsOfNewestEpoch(ledger, options.compile),
  );
  return {
    indexRequests,
    deadLetters,
    async stop() {
      stopping.abort();
      await indexSets.stop();
    },
  };
}

/** As the processors have them, and not as the rule files of this process say. */
function setsOfNewestEpoch(ledger: Ledger, compile: StoreWorkOptions['compile']): KnownSets {
  const ruleSets = createRuleSets(ledger, compile);
  let sets: readonly IndexSetDefinition[] = [];
  return {
    sets: () => sets,
    async follow() {
      await ledger.refresh();
      const version = ledger.latestEpoch()?.ruleSetVersion;
      sets = version === undefined ? [] : (await ruleSets.byVersion(version)).indexSets;
    },
  };
}
