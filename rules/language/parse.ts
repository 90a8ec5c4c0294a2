/** Text of a rule file → its checked data; what is wrong becomes problems. */
import { Ajv } from 'ajv';
import { LRUCache } from 'lru-cache';
import type { RuleFileOutput } from '../../schemas/outputs/output.js';
import {
  ruleFileSchema,
  type RuleFileIndexSet,
  type RuleFileObfuscation,
  type RuleFileRole,
  type RuleFileRule,
  type RuleFileStream,
} from '../../schemas/rule-files.js';
import { actions } from '../actions/registry.js';
import { conditions } from '../conditions/registry.js';
import type { RuleSource } from '../contract.js';
import { maxProblems, type LocatedFile, type Problem } from '../problems.js';
import { reportShape } from './shape-problems.js';
import { readFileText } from './text.js';

export interface RuleFile {
  readonly rules?: readonly RuleFileRule[];
  readonly streams?: readonly RuleFileStream[];
  readonly index_sets?: readonly RuleFileIndexSet[];
  readonly outputs?: readonly RuleFileOutput[];
  readonly roles?: readonly RuleFileRole[];
  readonly obfuscation?: RuleFileObfuscation;
}

export interface ParsedFile extends LocatedFile {
  readonly data: RuleFile;
}

export const fileSchema = ruleFileSchema({
  conditions: Object.fromEntries(conditions.map((entry) => [entry.name, entry.schema])),
  actions: Object.fromEntries(actions.map((entry) => [entry.name, entry.schema])),
});

const ajv = new Ajv({ allErrors: true, verbose: true, allowUnionTypes: true, strict: false });
const isRuleFile = ajv.compile<RuleFile>(fileSchema);

type Parsed = ParsedFile | { readonly problems: readonly Problem[] };

/** Characters of the files that are remembered: twice what all rule files together may have. */
const rememberedCharacters = 16 * 2 ** 20;
const remembered = new LRUCache<string, Parsed>({
  maxSize: rememberedCharacters,
  sizeCalculation: (_parsed, key) => key.length,
});

/** The files that have the right shape; a file that stays the same is parsed once. */
export function parseRuleFiles({ files }: RuleSource, problems: Problem[]): readonly ParsedFile[] {
  return files.flatMap(({ name, text }) => {
    const key = `${name}\0${text}`;
    const parsed = remembered.get(key) ?? parse(name, text);
    remembered.set(key, parsed);
    if (!('problems' in parsed)) return [parsed];
    problems.push(...parsed.problems.slice(0, maxProblems - problems.length));
    return [];
  });
}

function parse(name: string, text: string): Parsed {
  const read = readFileText(text);
  if ('mistakes' in read) return { problems: read.mistakes.map((mistake) => problemOf(name, mistake)) };
  const { data, positionOf } = read;
  if (isRuleFile(data)) return { name, data, positionOf };
  const problems: Problem[] = [];
  reportShape({ name, data, positionOf }, isRuleFile.errors ?? [], problems);
  return { problems };
}

function problemOf(file: string, mistake: Pick<Problem, 'line' | 'column' | 'message'>): Problem {
  return { file, path: '', got: undefined, allowed: undefined, suggestion: undefined, ...mistake };
}
