/** Content packs and their installations: shapes, and how they are stored. */
import { Type, type Static } from 'typebox';
import { isSluiceError } from '../../../core/errors.js';
import type { StateStore } from '../../../state/contract.js';
import { failure } from '../failure.js';

const members = Type.Unsafe<Readonly<Record<string, unknown>>>({ type: 'object', additionalProperties: true });
const revision = Type.Integer({ minimum: 0, maximum: 1_000_000 });
const packId = Type.String({ pattern: '^[A-Za-z0-9_-]{1,100}$', description: 'Chosen by who made the pack.' });

export const packBody = Type.Object(
  {
    v: Type.Union([Type.Literal('1'), Type.Literal(1)], { description: 'Version of the format.' }),
    id: packId,
    rev: revision,
    name: Type.String({ minLength: 1, maxLength: 200 }),
    summary: Type.Optional(Type.String({ maxLength: 2_000 })),
    description: Type.Optional(Type.String({ maxLength: 100_000 })),
    vendor: Type.Optional(Type.String({ maxLength: 200 })),
    url: Type.Optional(Type.String({ maxLength: 2_000 })),
    parameters: Type.Array(members, { maxItems: 1_000, default: [] }),
    entities: Type.Array(
      Type.Object(
        {
          id: Type.String({ maxLength: 200 }),
          type: Type.Object({ name: Type.String({ maxLength: 100 }) }, { additionalProperties: true }),
          data: members,
        },
        { additionalProperties: true },
      ),
      { maxItems: 1_000 },
    ),
  },
  { additionalProperties: true, description: 'A content pack.' },
);
export type ContentPack = Static<typeof packBody>;

const entity = { entity_id: Type.String(), type: Type.String(), title: Type.String() };
const installed = Type.Object({
  ...entity,
  id: Type.String({ description: 'Of the object that was made.' }),
  path: Type.String(),
});
const skipped = Type.Object({ ...entity, reason: Type.String() });
export type InstalledEntity = Static<typeof installed>;
export type SkippedEntity = Static<typeof skipped>;

export const installation = Type.Object(
  {
    _id: Type.String(),
    content_pack_id: Type.String(),
    content_pack_revision: Type.Integer(),
    comment: Type.String(),
    created_at: Type.String(),
    created_by: Type.String(),
    entities: Type.Array(installed, { description: 'What was made.' }),
    skipped_entities: Type.Array(skipped, { description: 'What was not made as a whole, and why.' }),
  },
  { description: 'An installation of a content pack.' },
);
export type Installation = Static<typeof installation>;

export const packAnswer = Type.Unsafe<ContentPack>({
  type: 'object',
  additionalProperties: true,
  description: 'A content pack, as it was given.',
});
export const uninstalledAnswer = Type.Object({
  uninstalled_objects: Type.Array(installed),
  failed_objects: Type.Array(Type.Object({ ...entity, id: Type.String(), path: Type.String(), reason: Type.String() })),
});

const packPrefix = 'content-packs/';
const installationPrefix = 'content-pack-installations/';
/** Revisions count each. */
const maxPacks = 100;
const maxPackBytes = 512 * 1024;
const maxInstallations = 500;

export type PackStore = ReturnType<typeof createPackStore>;

export function createPackStore(state: StateStore) {
  const values = async <Value>(prefix: string): Promise<readonly Value[]> =>
    (await state.list(prefix)).map(({ value }) => value as Value);
  const remove = async (key: string): Promise<void> => {
    const entry = await state.get(key);
    if (entry !== undefined) await state.delete(key, entry.revision);
  };
  const installations = (pack?: string): Promise<readonly Installation[]> =>
    values<Installation>(`${installationPrefix}${pack === undefined ? '' : `${pack}/`}`);
  return {
    packs: (id?: string): Promise<readonly ContentPack[]> =>
      values<ContentPack>(`${packPrefix}${id === undefined ? '' : `${id}/`}`),
    pack: async (id: string, rev: number): Promise<ContentPack | undefined> =>
      (await state.get(`${packPrefix}${id}/${rev}`))?.value as ContentPack | undefined,
    installations,
    async add(pack: ContentPack): Promise<void> {
      const bytes = Buffer.byteLength(JSON.stringify(pack));
      if (bytes > maxPackBytes)
        throw failure('API_TOO_LARGE', `The pack takes ${bytes} bytes; ${maxPackBytes} are kept at the most.`);
      if ((await state.list(packPrefix)).length >= maxPacks)
        throw failure('API_LIMIT_REACHED', `${maxPacks} revisions of content packs are kept already.`);
      try {
        await state.put(`${packPrefix}${pack.id}/${pack.rev}`, pack, undefined);
      } catch (error) {
        if (isSluiceError(error) && error.code === 'STATE_CONFLICT')
          throw failure(
            'API_REQUEST_REFUSED',
            `There is a revision ${pack.rev} of the content pack ${pack.id} already.`,
          );
        throw error;
      }
    },
    removePack: (id: string, rev: number): Promise<void> => remove(`${packPrefix}${id}/${rev}`),
    async addInstallation(made: Installation): Promise<void> {
      await state.put(`${installationPrefix}${made.content_pack_id}/${made._id}`, made, undefined);
    },
    async assertRoom(): Promise<void> {
      if ((await installations()).length >= maxInstallations)
        throw failure('API_LIMIT_REACHED', `There are ${maxInstallations} installations already.`);
    },
    removeInstallation: ({ content_pack_id: pack, _id: id }: Installation): Promise<void> =>
      remove(`${installationPrefix}${pack}/${id}`),
  };
}
