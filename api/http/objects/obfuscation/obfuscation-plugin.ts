/** The obfuscation in the words of Graylog's plugin. Its patterns have numbers where ours have names. */
import { at } from '../../../../core/at.js';
import { Type, type Static } from 'typebox';
import type { Catalog, CatalogItem } from '../../../../definitions/contract.js';
import type { RuleFileObfuscation } from '../../../../schemas/rule-files.js';
import { invalidMembers } from '../../failure.js';
import { given, textOf } from '../shapes.js';

const finder = {
  id: Type.Union([Type.Integer({ minimum: 0 }), Type.String({ maxLength: 100 })]),
  name: Type.String({ minLength: 1, maxLength: 200 }),
  pattern: Type.String({ minLength: 1, maxLength: 5_000 }),
};
export const pluginBody = Type.Object(
  {
    'is-obfuscation-enabled': Type.Optional(Type.Boolean()),
    'text-replacer': Type.Optional(
      Type.String({ maxLength: 200, description: 'Static Star Replacer: eight asterisks.' }),
    ),
    'field-names': Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 256 }), { uniqueItems: true, maxItems: 100 }),
    ),
    'stream-titles': Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 200 }), { uniqueItems: true, maxItems: 1_000 }),
    ),
    'sensitive-regular-expressions': Type.Optional(
      Type.Array(Type.Object({ ...finder, importance: Type.Optional(Type.Number()) }), { maxItems: 500 }),
    ),
    'white-regular-expressions': Type.Optional(Type.Array(Type.Object(finder), { maxItems: 500 })),
  },
  { description: 'Members that are missing keep their values.' },
);

export const starReplacer = 'Static Star Replacer';
const eightStars = '********';

export function isTitleOf({ settings, id }: CatalogItem, name: string): boolean {
  return textOf(settings['title'], id).toLowerCase() === name.toLowerCase();
}

export function showPlugin(
  {
    enabled = false,
    replacement = eightStars,
    fields = [],
    streams = [],
    patterns = [],
    white_patterns: white = [],
  }: RuleFileObfuscation,
  catalog: Catalog,
): Static<typeof pluginBody> {
  const titleOf = (id: string): string => textOf(catalog.find('streams', id)?.settings['title'], id);
  const used = (items: typeof patterns) =>
    items
      .filter((item) => item.enabled !== false)
      .map(({ id, title, pattern = '' }) => ({ id: /^\d+$/.test(id) ? Number(id) : id, name: title ?? id, pattern }));
  return {
    'is-obfuscation-enabled': enabled,
    'text-replacer': replacement === eightStars ? starReplacer : replacement,
    'field-names': [...fields],
    'stream-titles': streams.map(titleOf),
    'sensitive-regular-expressions': used(patterns).map((item, place) => ({
      ...item,
      importance: patterns.filter(({ enabled: on }) => on !== false)[place]?.importance ?? 1,
    })),
    'white-regular-expressions': used(white),
  };
}

/** Its lists are whole: what they do not name is switched off. */
export function takePlugin(body: Static<typeof pluginBody>, now: RuleFileObfuscation): RuleFileObfuscation {
  const listed = (
    items: Static<typeof pluginBody>['sensitive-regular-expressions'],
    known: RuleFileObfuscation['patterns'] = [],
  ) => {
    if (items === undefined) return undefined;
    const ids = items.map(({ id }) =>
      String(id)
        .toLowerCase()
        .replace(/[^a-z0-9_-]+/g, '-'),
    );
    if (new Set(ids).size < ids.length)
      throw invalidMembers({ 'sensitive-regular-expressions': ['Each needs an id of its own.'] });
    const off = known.filter(({ id }) => !ids.includes(id)).map(({ id }) => ({ id, enabled: false }));
    return [
      ...off,
      ...items.map(({ name, pattern, importance }, place) => ({
        id: at(ids, place),
        title: name,
        pattern,
        enabled: true,
        ...(importance === undefined ? {} : { importance }),
      })),
    ];
  };
  const replacer = body['text-replacer'];
  return given({
    enabled: body['is-obfuscation-enabled'],
    replacement: replacer === starReplacer ? eightStars : replacer,
    fields: body['field-names'],
    streams: body['stream-titles'],
    patterns: listed(body['sensitive-regular-expressions'], now.patterns),
    white_patterns: listed(body['white-regular-expressions'], now.white_patterns),
  });
}
