/** Builds rule sets for the tests. */
import { join } from 'node:path';
import { readdirSync, readFileSync } from 'node:fs';
import { packageRoot } from '../../core/process/package-root.js';
import { compileRules } from '../../rules/compile/compile.js';
import type { RuleSet, RuleSource, Routing } from '../../rules/contract.js';
import { formatProblem, type Problem } from '../../rules/problems.js';
import type { LogDocument } from '../../schemas/messages.js';

export const sourceOf = (...texts: readonly string[]): RuleSource => ({
  files: texts.map((text, place) => ({ name: `${place}.yaml`, text })),
});

function compileOrThrow(source: RuleSource): RuleSet {
  const result = compileRules(source);
  if ('problems' in result) throw new Error(result.problems.map(formatProblem).join('\n'));
  return result.ruleSet;
}

/** JSON is YAML. */
export const compiled = (file: unknown): RuleSet => compileOrThrow(sourceOf(JSON.stringify(file)));

export function problemsOf(...texts: readonly string[]): readonly Problem[] {
  const result = compileRules(sourceOf(...texts));
  return 'problems' in result ? result.problems : [];
}

const defaultsFolder = join(packageRoot, 'rules', 'defaults');
export const shippedFiles = (): RuleSource['files'] =>
  readdirSync(defaultsFolder)
    .sort()
    .map((name) => ({ name: `defaults/${name}`, text: readFileSync(join(defaultsFolder, name), 'utf8') }));

/** The shipped files and these behind them. */
export const rulesText = (...texts: readonly string[]): RuleSet =>
  compileOrThrow({ files: [...shippedFiles(), ...sourceOf(...texts).files] });

export const context = { messageId: '0190-0-00000001', receiver: 'gelf-tcp' };

export function run(
  ruleSet: RuleSet,
  before: LogDocument,
  receiver?: unknown,
): { readonly document: LogDocument; readonly routing: Routing } {
  const document: LogDocument = { ...before };
  const from =
    typeof receiver === 'string'
      ? receiver
      : typeof before['receiver'] === 'string'
        ? before['receiver']
        : context.receiver;
  const routing = ruleSet.apply(document, { ...context, receiver: from });
  return { document, routing };
}
