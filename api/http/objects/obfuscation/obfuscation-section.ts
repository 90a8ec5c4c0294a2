/** What is obfuscated: of the rule files and of what people changed here together. */
import { isDeepStrictEqual } from 'node:util';
import type { FastifyRequest } from 'fastify';
import type { RuleFileObfuscation } from '../../../../schemas/rule-files.js';
import { membersOf, type Audited } from '../../audited.js';
import type { ApiServices } from '../../services.js';
import { storing } from '../changing.js';
import { isTitleOf } from './obfuscation-plugin.js';
import { given, listOf } from '../shapes.js';

type Changes = RuleFileObfuscation;
const auditedObject = 'obfuscation';

interface Entry {
  readonly id: string;
  readonly enabled?: boolean;
}

/**
 * `create-only`: what was changed here stays, and patterns of the files that were taken away are there again.
 * `force-update`: patterns of the files are as
 * they stand there. Patterns that were made here stay with both.
 */
type SyncMode = 'create-only' | 'force-update' | 'skip';

const syncModes: Readonly<Record<string, SyncMode>> = {
  'create-only': 'create-only',
  'only-create': 'create-only',
  'force-update': 'force-update',
  skip: 'skip',
};

export function syncModeOf(text: string): SyncMode | undefined {
  const word = text.trim().toLowerCase().replaceAll('_', '-');
  return Object.hasOwn(syncModes, word) ? syncModes[word] : undefined;
}

interface ObfuscationSection {
  read(): Promise<RuleFileObfuscation>;
  /** Patterns by id: those that are not named stay. */
  change(changes: Changes, by: string): Promise<void>;
  /** Back to what the files say. */
  reset(by: string): Promise<void>;
  sync(mode: SyncMode, by: string): Promise<void>;
  /** What is stored, also when another process has changed it a moment ago. */
  restore(): Promise<void>;
}

export function obfuscationSection({ definitions }: Pick<ApiServices, 'definitions'>): ObfuscationSection {
  const isChanged = (): boolean => definitions.writer().find('obfuscation', 'section') !== undefined;
  return {
    read: async () => (await definitions.catalog()).obfuscation,
    async change(changes, by) {
      const catalog = await definitions.catalog();
      const streams = changes.streams?.map(
        (name) =>
          (catalog.find('streams', name) ?? catalog.list('streams').find((item) => isTitleOf(item, name)))?.id ?? name,
      );
      await storing(() =>
        definitions.writer().change(
          'obfuscation',
          'section',
          (before) => ({
            definition: {
              ...before?.definition,
              ...given({
                ...changes,
                streams,
                patterns: joined(before?.definition['patterns'], changes.patterns),
                white_patterns: joined(before?.definition['white_patterns'], changes.white_patterns),
              }),
            },
          }),
          by,
        ),
      );
    },
    async reset(by) {
      if (isChanged()) await storing(() => definitions.writer().remove('obfuscation', 'section', by));
    },
    async sync(mode, by) {
      if (mode === 'skip' || !isChanged()) return;
      const files = await definitions.obfuscationOfFiles();
      const remaining = (key: 'patterns' | 'white_patterns', before: unknown): readonly Entry[] => {
        const filed = new Set((files[key] ?? []).map(({ id }) => id));
        return listOf<Entry>(before).filter(
          ({ id, enabled }) => !filed.has(id) || (mode === 'create-only' && enabled !== false),
        );
      };
      await storing(() =>
        definitions.writer().change(
          'obfuscation',
          'section',
          (before) => ({
            definition: {
              ...before?.definition,
              patterns: remaining('patterns', before?.definition['patterns']),
              white_patterns: remaining('white_patterns', before?.definition['white_patterns']),
            },
          }),
          by,
        ),
      );
    },
    restore: () => definitions.writer().refresh(),
  };
}

/** Does it, and says what it changed. */
export async function auditedChange({ read }: ObfuscationSection, act: () => Promise<void>): Promise<Audited> {
  const before = await read();
  await act();
  const after = await read();
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])] as readonly (keyof Changes)[];
  const changed = names.filter((name) => !isDeepStrictEqual(before[name], after[name]));
  return {
    object: auditedObject,
    details: {
      changed,
      ...Object.fromEntries(
        changed.map((name) => [name, isEntries(after[name]) ? idsThatDiffer(before[name], after[name]) : after[name]]),
      ),
    },
  };
}

/** For an attempt: the members that the change names. */
export const auditedAttempt = ({ body }: FastifyRequest): Audited => ({
  object: auditedObject,
  details: { given: Object.keys(membersOf(body)) },
});

const isEntries = (value: unknown): boolean => Array.isArray(value) && value.some((item) => typeof item === 'object');

function idsThatDiffer(before: unknown, after: unknown): readonly string[] {
  const [old, now] = [
    new Map(listOf<Entry>(before).map((item) => [item.id, item])),
    new Map(listOf<Entry>(after).map((item) => [item.id, item])),
  ];
  return [...new Set([...old.keys(), ...now.keys()])].filter((id) => !isDeepStrictEqual(old.get(id), now.get(id)));
}

/** What is stored already, with the changes by id. */
function joined(before: unknown, changes: readonly Entry[] | undefined): readonly object[] | undefined {
  if (changes === undefined) return undefined;
  const byId = new Map<string, object>(listOf<Entry>(before).map((item) => [item.id, item]));
  for (const item of changes) byId.set(item.id, { ...byId.get(item.id), ...item });
  return [...byId.values()];
}
