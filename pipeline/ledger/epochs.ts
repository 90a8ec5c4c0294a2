/**
 * Appends epochs (protocol rule 1): for changed rules, for new index sets, for a rotated index. Any process with the
 * store may; compare-and-set decides.
 */
import type { Log } from '../../core/log.js';
import type { RuleSet } from '../../rules/contract.js';
import { indexName, indexNumber } from '../../schemas/index-names.js';
import type { IndexSetDefinition } from '../../schemas/index-sets.js';
import type { IndexRotation, IndexState } from '../../sinks/index-sets/contract.js';
import type { IndexStore } from '../../sinks/stores/contract.js';
import type { Epoch } from '../delivery/records.js';
import { pipelineErrors } from '../errors.js';
import type { Ledger } from './ledger.js';
import { pipelineEvents } from '../events.js';

export interface Epochs extends IndexRotation {
  /** Makes this rule set the one of the newest epoch, with an index for each of its sets. */
  applyRules(ruleSet: RuleSet): Promise<void>;
}

interface EpochsOptions {
  readonly ledger: Ledger;
  readonly store: IndexStore;
  readonly log: Log;
  readonly now: () => number;
}

/** Lost races in a row before giving up; each one means that another processor made progress. */
const maxRaces = 20;

export function createEpochs(options: EpochsOptions): Epochs {
  const { ledger, now, log } = options;

  const append = async (
    next: Omit<Epoch, 'number' | 'createdAt'>,
    latest: Epoch | undefined,
    created: readonly string[],
  ): Promise<boolean> => {
    const epoch: Epoch = { ...next, number: (latest?.number ?? -1) + 1, createdAt: now() };
    if (await ledger.appendEpoch(epoch)) {
      pipelineEvents.epochAppended(log, {
        epoch: epoch.number,
        cause: epoch.cause,
        rule_set_version: epoch.ruleSetVersion,
      });
      return true;
    }
    for (const index of created) await discardIndex(options, index);
    return false;
  };

  return {
    async applyRules(ruleSet) {
      await ledger.keepRuleSource(ruleSet.version, ruleSet.source);
      for (let race = 0; race < maxRaces; race += 1) {
        await ledger.refresh();
        const latest = ledger.latestEpoch();
        const missing = ruleSet.indexSets.filter((set) => latest?.indices[set.id] === undefined);
        if (latest?.ruleSetVersion === ruleSet.version && missing.length === 0) return;
        const created: Record<string, string> = {};
        for (const set of missing) created[set.id] = await createNextIndex(options, set);
        const kept = Object.fromEntries(
          ruleSet.indexSets.flatMap((set) => {
            const index = latest?.indices[set.id];
            return index === undefined ? [] : [[set.id, index]];
          }),
        );
        const cause = latest === undefined ? 'start' : 'rules';
        if (
          await append(
            { ruleSetVersion: ruleSet.version, indices: { ...kept, ...created }, cause },
            latest,
            Object.values(created),
          )
        )
          return;
      }
      throw pipelineErrors.create('PIPELINE_EPOCH_RACE', { got: `${maxRaces} lost races` });
    },

    async rotate(set, current) {
      for (let race = 0; race < maxRaces; race += 1) {
        await ledger.refresh();
        const latest = ledger.latestEpoch();
        if (latest === undefined || latest.indices[set.id] !== current) return false;
        const index = await createNextIndex(options, set);
        if (
          await append(
            {
              ruleSetVersion: latest.ruleSetVersion,
              indices: { ...latest.indices, [set.id]: index },
              cause: 'rotation',
            },
            latest,
            [index],
          )
        )
          return true;
        // Somebody else's epoch came first, perhaps for another set.
      }
      return false;
    },
  };
}

/** Rule 6: the index's state reserves the name for ever; then the index is created. */
async function createNextIndex(options: EpochsOptions, set: IndexSetDefinition): Promise<string> {
  const { ledger, store, now } = options;
  for (let race = 0; race < maxRaces; race += 1) {
    const taken = [...(await ledger.indexStates()).values()]
      .filter(({ value }) => value.indexSet === set.id)
      .map(({ value }) => value.number);
    const there = (await store.indices.list(set.id)).map((info) => indexNumber(info.name, set.id) ?? -1);
    const number = Math.max(-1, ...taken, ...there) + 1;
    const name = indexName(set.id, number);
    const state: IndexState = { indexSet: set.id, number, state: 'open', createdAt: now() };
    if (!(await ledger.writeIndexState(name, state, undefined))) continue;
    await store.indices.create(name, {
      alias: set.id,
      shards: set.shards,
      replicas: set.replicas,
      refreshIntervalMs: set.refresh_interval_ms,
    });
    return name;
  }
  throw pipelineErrors.create('PIPELINE_EPOCH_RACE', { place: set.id, got: `${maxRaces} lost races` });
}

/** An index that no epoch names: nobody can have written to it. */
async function discardIndex(options: EpochsOptions, name: string): Promise<void> {
  const found = await options.ledger.indexState(name);
  if (found === undefined) return;
  await options.store.indices.delete(name);
  await options.ledger.writeIndexState(name, { ...found.value, state: 'deleted' }, found.revision);
}
