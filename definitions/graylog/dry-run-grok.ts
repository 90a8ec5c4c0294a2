/** What a grok pattern finds in a text. Throws OBJECT_INVALID. */
import { compileRules } from '../../rules/compile/compile.js';
import type { LogDocument } from '../../schemas/messages.js';
import { invalid } from '../check.js';
import { withGrokPatterns, type GrokTable } from './grok-patterns.js';
import { grokText } from './pipeline-rules/grok-text.js';

export function tryGrok(pattern: string, text: string, table: GrokTable): Readonly<Record<string, unknown>> {
  const then = withGrokPatterns(
    [{ grok: { field: 'message', pattern: grokText(pattern, { prefix: 'found.', onlyNamed: false }) } }],
    table,
  );
  const compiled = compileRules({
    files: [{ name: 'tried.yaml', text: JSON.stringify({ rules: [{ id: 'tried', when: { always: true }, then }] }) }],
  });
  if ('problems' in compiled)
    throw invalid(
      compiled.problems.map(({ message, got }) => ({
        field: 'pattern',
        message: got === undefined ? message : `${message} Got ${got}.`,
      })),
    );
  const document: LogDocument = { message: text };
  compiled.ruleSet.apply(document, { messageId: 'tried', receiver: '' });
  return Object.fromEntries(
    Object.entries(document)
      .filter(([name]) => name !== 'message' && name.startsWith('found.'))
      .map(([name, value]) => [name.slice('found.'.length), value]),
  );
}
