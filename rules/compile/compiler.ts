/** Compiles each source once in a process: what was checked before it was stored is what comes into force. */
import { LRUCache } from 'lru-cache';
import { compileRules, type Compiled, type CompileOptions } from './compile.js';
import type { RuleSet, RuleSource } from '../contract.js';
import { createEngine } from '../engine/engine.js';
import { invalidRules } from '../problems.js';
import { programOf, rememberProgram } from '../engine/program.js';
import { versionOf } from '../loading/source.js';

export interface RuleCompiler {
  compile(source: RuleSource, options?: CompileOptions): Compiled;
  /**
   * For messages of an epoch, whose routing no role changes. The rule set counts for itself, whoever else runs the same
   * rules. Throws PIPELINE_RULES_INVALID.
   */
  compileEpoch(source: RuleSource): RuleSet;
}

/** The set in force and the changed one, each also without the definitions that do not fit. */
const maxCompiled = 4;

export function createRuleCompiler(): RuleCompiler {
  const known = new LRUCache<string, Compiled>({ max: maxCompiled });
  const compile = (source: RuleSource, options: CompileOptions = {}): Compiled => {
    const version = versionOf(source);
    const strict = known.get(version);
    // Roles can only make a difference between a rule set and problems.
    if (strict !== undefined && 'ruleSet' in strict) return strict;
    const key = `${version}${keyOf(options)}`;
    const found = known.get(key);
    if (found !== undefined) return found;
    const compiled = compileRules(source, options);
    known.set(key, compiled);
    return compiled;
  };
  return {
    compile,
    compileEpoch(source) {
      const compiled = compile(source, { rolesMayName: 'all' });
      if ('problems' in compiled) throw invalidRules(compiled.problems);
      const { ruleSet } = compiled;
      const program = programOf(ruleSet);
      return rememberProgram({ ...ruleSet, ...createEngine(program) }, program);
    },
  };
}

function keyOf({ rolesMayName }: CompileOptions): string {
  if (rolesMayName === undefined || rolesMayName === 'all') return rolesMayName ?? '';
  return [...rolesMayName]
    .sort()
    .map((stream) => `\0${stream}`)
    .join('');
}
