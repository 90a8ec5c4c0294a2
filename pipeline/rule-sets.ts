/** Compiled rule sets by version: an epoch names the one that decides its offsets, and a backlog may need an older one. */
import type { RuleSet, RuleSource } from '../rules/contract.js';
import { pipelineErrors } from './errors.js';
import type { Ledger } from './ledger.js';

/** Compiled rule sets kept in memory; the protocol needs two in steady state, more only while a backlog spans several changes. */
const maxCompiled = 8;

export type CompileRules = (source: RuleSource) => RuleSet;

export interface RuleSets {
  add(ruleSet: RuleSet): void;
  byVersion(version: string): Promise<RuleSet>;
  /** All that are in memory, for their counts. */
  loaded(): Iterable<RuleSet>;
}

export function createRuleSets(ledger: Ledger, compile: CompileRules): RuleSets {
  const compiled = new Map<string, RuleSet>();
  const add = (ruleSet: RuleSet): void => {
    compiled.delete(ruleSet.version);
    compiled.set(ruleSet.version, ruleSet);
    for (const oldest of compiled.keys()) {
      if (compiled.size <= maxCompiled) break;
      compiled.delete(oldest);
    }
  };
  return {
    add,
    loaded: () => compiled.values(),
    async byVersion(version) {
      const known = compiled.get(version);
      if (known !== undefined) return known;
      const source = await ledger.ruleSource(version);
      if (source === undefined) throw pipelineErrors.create('PIPELINE_RULES_MISSING', { place: `rule set ${version}` });
      const ruleSet = compile(source);
      add(ruleSet);
      return ruleSet;
    },
  };
}
