/** Graylog pipeline rules, translated and run. */
import { isSluiceError } from '../../../../core/errors.js';
import { withGrokPatterns } from '../../../../definitions/graylog/grok-patterns.js';
import { textProblemsOf } from '../../../../definitions/graylog/contract.js';
import { translateRule } from '../../../../definitions/graylog/pipeline-rules/translate.js';
import type { KnownNames } from '../../../../definitions/graylog/contract.js';
import type { LogDocument } from '../../../../schemas/messages.js';
import { compiled, run } from '../../../rules/support.js';

export const known: KnownNames = {
  streams: [
    { id: 'all-messages', title: 'All messages' },
    { id: 'audit', title: 'Audit logs' },
    { id: 'other', title: 'Other' },
  ],
  receivers: [
    { id: 'gelf-tcp', title: 'gelf-tcp' },
    { id: 'input-1', title: 'My input' },
  ],
};

export const ruleText = (when: string, then = 'set_field("hit", "yes");', name = 'r'): string =>
  `rule "${name}"\nwhen\n  ${when}\nthen\n  ${then}\nend`;

interface Ran {
  readonly document: LogDocument;
  readonly streams: readonly string[];
  readonly dropped: boolean;
}

export function runRule(source: string, before: LogDocument): Ran {
  const { when, then } = translateRule(source, known);
  const rules = then.length === 0 ? [] : [{ id: 'translated', when, then: withGrokPatterns(then, {}) }];
  const { document, routing } = run(compiled({ rules, streams: [{ id: 'audit' }, { id: 'other' }] }), before);
  return { document: present(document), streams: routing.streams, dropped: routing.dropped };
}

/** Without fields that were removed. */
export function present(document: LogDocument): LogDocument {
  const found: LogDocument = {};
  for (const [name, value] of Object.entries(document) as [string, LogDocument[string] | undefined][])
    if (value !== undefined) found[name] = value;
  return found;
}

/** `line:column message` of the first problem; undefined: none. */
export function problemOf(source: string): string | undefined {
  try {
    translateRule(source, known);
    return undefined;
  } catch (error) {
    if (!isSluiceError(error) || error.code !== 'OBJECT_TEXT_INVALID') throw error;
    const [first] = textProblemsOf(error);
    return `${first?.line}:${first?.column} ${first?.message}`;
  }
}
