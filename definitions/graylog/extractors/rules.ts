/** Extractors of inputs → rules that only see messages of their receiver. */
import type { KeptObject, KeptObjects, Settings } from '../../kept.js';
import type { DerivedRule } from '../pipelines.js';

const orderOf = ({ definition }: KeptObject): number =>
  typeof definition['order'] === 'number' ? definition['order'] : 0;

export const extractorsOf = (kept: KeptObjects): readonly KeptObject[] =>
  kept.filter(({ kind }) => kind === 'extractors').sort((left, right) => orderOf(left) - orderOf(right));

export function extractorRules(kept: KeptObjects): readonly DerivedRule[] {
  return extractorsOf(kept).map((extractor) => ({ rule: ruleOf(extractor), of: extractor }));
}

function ruleOf({ id, definition }: KeptObject): Settings {
  return {
    id: `extractor--${id}`,
    description: `Extractor ${String(definition['title'])} of the receiver ${String(definition['input'])}.`,
    when: definition['when'],
    then: definition['then'],
  };
}
