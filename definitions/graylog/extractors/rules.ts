/** Extractors of inputs → rules that only see messages of their receiver. */
import type { StoredDefinition, StoredDefinitions, Settings } from '../../stored.js';
import type { DerivedRule } from '../contract.js';

const orderOf = ({ definition }: StoredDefinition): number =>
  typeof definition['order'] === 'number' ? definition['order'] : 0;

export const extractorsOf = (stored: StoredDefinitions): readonly StoredDefinition[] =>
  stored.filter(({ kind }) => kind === 'extractors').sort((left, right) => orderOf(left) - orderOf(right));

export function extractorRules(stored: StoredDefinitions): readonly DerivedRule[] {
  return extractorsOf(stored).map((extractor) => ({ rule: ruleOf(extractor), of: extractor }));
}

function ruleOf({ id, definition }: StoredDefinition): Settings {
  return {
    id: `extractor--${id}`,
    description: `Extractor ${String(definition['title'])} of the receiver ${String(definition['input'])}.`,
    when: definition['when'],
    then: definition['then'],
  };
}
