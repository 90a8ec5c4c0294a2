/**
 * Reading and changing the named grok patterns. All of them are one definition: a change is checked with everything
 * that uses them.
 */
import { apiIdOf } from '../../../../core/object-ids.js';
import { sectionId } from '../../../../definitions/contract.js';
import type { GrokTable } from '../../../../definitions/graylog/contract.js';
import { failure, invalidMembers } from '../../failure.js';
import type { ApiServices } from '../../services.js';
import { found, storing } from '../changing.js';

export interface NamedPattern {
  readonly name: string;
  readonly pattern: string;
}

interface GrokImport {
  readonly patterns: readonly NamedPattern[];
  readonly strategy: 'ABORT_ON_CONFLICT' | 'REPLACE_ON_CONFLICT' | 'DROP_ALL_EXISTING';
}

export type GrokStore = ReturnType<typeof createGrokStore>;

export function createGrokStore({ definitions, graylog: { grok } }: Pick<ApiServices, 'definitions' | 'graylog'>) {
  const table = (): GrokTable => grok.table(definitions.stored());
  const nameOf = (key: string): string =>
    found(
      'pattern',
      Object.keys(table()).find((name) => name === key || apiIdOf(name) === key),
    );
  const show = (name: string) => ({
    id: apiIdOf(name),
    name,
    pattern: table()[name] ?? '',
    content_pack: null,
    problem: grok.problem(name, table()) ?? null,
  });
  const assertReadable = ({ name, pattern }: NamedPattern): void => {
    if (!/^[A-Za-z0-9_.-]+$/.test(name)) throw invalidMembers({ name: ['Letters, digits, _, . and - only.'] });
    if (grok.isBroken(pattern))
      throw invalidMembers({ pattern: [`This is no regular expression: ${pattern.slice(0, 100)}`] });
  };
  const save = async (change: (before: GrokTable) => GrokTable, by: string): Promise<void> => {
    await storing(() =>
      definitions.writer().change(
        'grok-patterns',
        sectionId,
        (before) => ({
          definition: { patterns: change((before?.definition['patterns'] as GrokTable | undefined) ?? {}) },
        }),
        by,
      ),
    );
  };

  return {
    list: () => Object.keys(table()).sort().map(show),
    show,
    read: (key: string) => show(nameOf(key)),
    dryRun: (pattern: string, text: string) => storing(() => grok.dryRun(pattern, text, table())),
    /** Under another name it takes the place of the one before. */
    async change(key: string, changed: NamedPattern, by: string): Promise<void> {
      const { name, pattern } = changed;
      const known = nameOf(key);
      assertReadable(changed);
      await save((before) => {
        if (name !== known && Object.hasOwn(before, name))
          throw failure('API_EXISTS', `There is a pattern ${name} already.`);
        return { ...without(before, known), [name]: pattern };
      }, by);
    },
    async remove(key: string, by: string): Promise<void> {
      const name = nameOf(key);
      await save((before) => without(before, name), by);
    },
    /** All of them or none. */
    async import({ patterns, strategy }: GrokImport, by: string): Promise<void> {
      patterns.forEach(assertReadable);
      await save((before) => {
        const taken = patterns.find(({ name }) => Object.hasOwn(before, name));
        if (strategy === 'ABORT_ON_CONFLICT' && taken !== undefined)
          throw failure('API_EXISTS', `There is a pattern ${taken.name} already; nothing was changed.`);
        const after = {
          ...(strategy === 'DROP_ALL_EXISTING' ? {} : before),
          ...Object.fromEntries(patterns.map(({ name, pattern }) => [name, pattern])),
        };
        if (Object.keys(after).length > grok.max)
          throw failure('API_LIMIT_REACHED', `At most ${grok.max} patterns are kept.`);
        return after;
      }, by);
    },
  };
}

const without = (table: GrokTable, name: string): GrokTable =>
  Object.fromEntries(Object.entries(table).filter(([other]) => other !== name));
