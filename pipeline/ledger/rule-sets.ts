/**
 * Compiled rule sets by version: an epoch names the one that decides its offsets, and a backlog may need an older one.
 */
import type { RuleSet, RuleSource } from '../../rules/contract.js';
import { errorText, isSluiceError } from '../../core/errors.js';
import { pipelineErrors } from '../errors.js';
import type { Ledger } from './ledger.js';

/**
 * Compiled rule sets kept in memory; the protocol needs two in steady state, more only while a backlog spans several
 * changes.
 */
const maxCompiled = 8;

type CompileRules = (source: RuleSource) => RuleSet;

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
      const ruleSet = await understand(ledger, compile, version);
      add(ruleSet);
      return ruleSet;
    },
  };
}

/**
 * What another program kept may not compile here, or may mean something else here: then its messages are held, until a
 * program that understands it has worked them off. Guessing would route an offset in two ways.
 */
async function understand(ledger: Ledger, compile: CompileRules, version: string): Promise<RuleSet> {
  const place = `rule set ${version}`;
  let ruleSet: RuleSet;
  try {
    const source = await ledger.ruleSource(version);
    if (source === undefined) throw pipelineErrors.create('PIPELINE_RULES_MISSING', { place });
    ruleSet = compile(source);
  } catch (error) {
    if (isSluiceError(error) && error.retryable) throw error;
    throw pipelineErrors.create('PIPELINE_RULES_NOT_UNDERSTOOD', { place, got: errorText(error), cause: error });
  }
  if (ruleSet.version === version) return ruleSet;
  throw pipelineErrors.create('PIPELINE_RULES_NOT_UNDERSTOOD', {
    place,
    got: 'rules of another version of the rule language',
  });
}
