/**
 * Rule files and stored definitions → a rule set. What people made through the API never keeps the program from
 * starting.
 */
import type { CompileOptions } from '../rules/compile/compile.js';
import type { RuleCompiler } from '../rules/compile/compiler.js';
import type { RuleSet, RuleSource } from '../rules/contract.js';
import { formatProblem, invalidRules, type Problem } from '../rules/problems.js';
import { versionOf } from '../rules/loading/source.js';
import type { Log } from '../core/log.js';
import type { StoredDefinition, StoredDefinitions } from './stored.js';
import { definitionEvents } from './events.js';
import { extractorsFile } from './derived.js';
import { objectOf, ruleFilesOf } from './rule-files.js';

export interface RulesLoader {
  /**
   * Throws PIPELINE_RULES_INVALID. An object that does not fit is left out, unless a change of the files made it so:
   * such a change is refused as a whole, as any other mistake in them.
   */
  load(files: RuleSource, stored: StoredDefinitions): RuleSet;
  /** Why, by `kind/id`, of objects that are left out. */
  leftOut(): ReadonlyMap<string, Problem>;
}

interface LoaderOptions {
  /** This process gives nobody access: what roles name does not matter to it. */
  readonly withoutRoles?: boolean | undefined;
  readonly compiler: RuleCompiler;
  readonly log: Log;
}

export const nameOf = ({ kind, id }: StoredDefinition): string => `${kind}/${id}`;

export function createRulesLoader({ compiler, log, withoutRoles = false }: LoaderOptions): RulesLoader {
  let leftOut: ReadonlyMap<string, Problem> = new Map();
  let lastFiles: string | undefined;

  const accept = (ruleSet: RuleSet, files: string, out: ReadonlyMap<string, Problem>): RuleSet => {
    for (const [name, problem] of out)
      if (!leftOut.has(name))
        definitionEvents.definitionLeftOut(log, { object: name, problem: formatProblem(problem) });
    leftOut = out;
    lastFiles = files;
    return ruleSet;
  };

  return {
    leftOut: () => leftOut,
    load(read, objects) {
      const files = versionOf(read);
      // A role may name a stream of the API that is left out: it is there, and comes back.
      const options: CompileOptions = {
        rolesMayName: withoutRoles
          ? 'all'
          : new Set(objects.filter(({ kind }) => kind === 'streams').map(({ id }) => id)),
      };
      const whole = compiler.compile(withObjects(read, objects), options);
      if ('ruleSet' in whole) return accept(whole.ruleSet, files, new Map());
      const known = compiler.compile(
        withObjects(
          read,
          objects.filter((object) => !leftOut.has(nameOf(object))),
        ),
        options,
      );
      if ('ruleSet' in known) return accept(known.ruleSet, files, leftOut);
      if (lastFiles === undefined || lastFiles === files) {
        const part = compilePart(compiler, read, objects, options);
        if (part !== undefined) return accept(part.ruleSet, files, part.leftOut);
      }
      throw invalidRules(known.problems);
    },
  };
}

/** Extractors come before all rules, whatever these make of the fields that they read. */
export function withObjects(files: RuleSource, stored: StoredDefinitions): RuleSource {
  const made = ruleFilesOf(stored);
  return {
    files: [
      ...made.filter(({ name }) => name === extractorsFile),
      ...files.files,
      ...made.filter(({ name }) => name !== extractorsFile),
    ],
  };
}

/**
 * Without the objects that problems name, and those that then have problems in their turn; undefined: it is the files.
 */
function compilePart(
  compiler: RuleCompiler,
  files: RuleSource,
  stored: StoredDefinitions,
  options: CompileOptions,
): { readonly ruleSet: RuleSet; readonly leftOut: ReadonlyMap<string, Problem> } | undefined {
  const leftOut = new Map<string, Problem>();
  for (let rest = stored; ; ) {
    const compiled = compiler.compile(withObjects(files, rest), options);
    if ('ruleSet' in compiled) return { ruleSet: compiled.ruleSet, leftOut };
    for (const problem of compiled.problems) {
      const object = objectOf(problem, rest);
      if (object !== undefined && !leftOut.has(nameOf(object))) leftOut.set(nameOf(object), problem);
    }
    const left = rest.filter((object) => !leftOut.has(nameOf(object)));
    if (left.length === rest.length) return undefined;
    rest = left;
  }
}
