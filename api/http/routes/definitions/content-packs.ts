/** Content packs: store, list, delete, install and uninstall. */
import { randomBytes } from 'node:crypto';
import { Type } from 'typebox';
import type { ApiServer } from '../../contract.js';
import { askingAs, installPack, uninstall } from '../../content-packs/install.js';
import {
  createPackStore,
  installation,
  packAnswer,
  packBody,
  uninstalledAnswer,
  type ContentPack,
  type Installation,
  type PackStore,
} from '../../content-packs/pack.js';
import { failure } from '../../failure.js';
import { found } from '../../objects/changing.js';
import { nothing, nullable } from '../../objects/shapes.js';
import type { ApiServices } from '../../services.js';

const tags = ['Content packs'];
const base = '/api/system/content_packs';
const id = Type.String({ maxLength: 200, description: 'Content pack.' });
const revision = Type.Integer({ minimum: 0, description: 'Revision of the pack.' });
const packParams = Type.Object({ packId: id });
const revisionParams = Type.Object({ packId: id, revision });
const installationParams = Type.Object({
  packId: id,
  installationId: Type.String({ maxLength: 64, description: 'Installation, 24 hexadecimal characters.' }),
});
const list = Type.Object({
  total: Type.Integer(),
  content_packs: Type.Array(packAnswer),
  content_packs_metadata: Type.Record(
    Type.String(),
    Type.Record(Type.String(), Type.Object({ installation_count: Type.Integer() })),
  ),
});
const installBody = Type.Object({
  parameters: Type.Optional(
    nullable(
      Type.Unsafe<Readonly<Record<string, unknown>>>({
        type: 'object',
        additionalProperties: true,
        description: 'Values of parameters by name.',
      }),
    ),
  ),
  comment: Type.Optional(nullable(Type.String({ maxLength: 2_000 }))),
});

export function contentPackRoutes(app: ApiServer, { state }: ApiServices): void {
  const store = createPackStore(state);
  addReading(app, store);
  addKeeping(app, store);
  addInstalling(app, store);
}

function newest(packs: readonly ContentPack[]): readonly ContentPack[] {
  return packs.filter((pack) => !packs.some((other) => other.id === pack.id && other.rev > pack.rev));
}

async function listed(store: PackStore, packs: readonly ContentPack[]) {
  const installations = await store.installations();
  const countOf = ({ id: pack, rev }: ContentPack): number =>
    installations.filter((one) => one.content_pack_id === pack && one.content_pack_revision === rev).length;
  const metadata: Record<string, Record<string, { installation_count: number }>> = {};
  for (const pack of packs)
    metadata[pack.id] = { ...metadata[pack.id], [String(pack.rev)]: { installation_count: countOf(pack) } };
  return { total: packs.length, content_packs: [...packs], content_packs_metadata: metadata };
}

function addReading(app: ApiServer, store: PackStore): void {
  app.get(
    base,
    {
      config: { permission: 'administrator' },
      schema: { summary: 'Content packs, every revision', tags, response: { 200: list } },
    },
    async () => listed(store, await store.packs()),
  );

  app.get(
    `${base}/latest`,
    {
      config: { permission: 'administrator' },
      schema: { summary: 'Content packs, the newest revision of each', tags, response: { 200: list } },
    },
    async () => listed(store, newest(await store.packs())),
  );

  app.get(
    `${base}/:packId`,
    {
      config: { permission: 'administrator' },
      schema: {
        summary: 'Revisions of a content pack',
        tags,
        params: packParams,
        response: {
          200: Type.Object({
            content_pack_revisions: Type.Array(Type.Integer()),
            content_packs: Type.Record(Type.String(), packAnswer),
          }),
        },
      },
    },
    async ({ params: { packId } }) => {
      const packs = await revisionsOf(store, packId);
      return {
        content_pack_revisions: packs.map(({ rev }) => rev),
        content_packs: Object.fromEntries(packs.map((pack) => [String(pack.rev), pack])),
      };
    },
  );

  app.get(
    `${base}/:packId/:revision`,
    {
      config: { permission: 'administrator' },
      schema: {
        summary: 'One revision of a content pack',
        tags,
        params: revisionParams,
        response: { 200: packAnswer },
      },
    },
    async ({ params }) => packOf(store, params.packId, params.revision),
  );
}

async function revisionsOf(store: PackStore, packId: string): Promise<readonly ContentPack[]> {
  const packs = (await store.packs()).filter((pack) => pack.id === packId).sort((left, right) => left.rev - right.rev);
  found('content pack', packs[0]);
  return packs;
}

const packOf = async (store: PackStore, packId: string, rev: number): Promise<ContentPack> =>
  found(
    'revision of this content pack',
    (await store.packs()).find((pack) => pack.id === packId && pack.rev === rev),
  );

function addKeeping(app: ApiServer, store: PackStore): void {
  app.post(
    base,
    {
      config: { permission: 'administrator', audit: 'content_pack:create' },
      schema: {
        summary: 'Keep a revision of a content pack; nothing of it is installed by this',
        tags,
        body: packBody,
        response: { 201: Type.Object({ id: Type.String(), rev: Type.Integer() }) },
      },
    },
    async (request, reply) => {
      const { body } = request;
      await store.add(body);
      request.audited = { object: `${body.id}/${body.rev}`, details: { name: body.name } };
      return reply.code(201).header('location', `${base}/${body.id}/${body.rev}`).send({ id: body.id, rev: body.rev });
    },
  );

  app.delete(
    `${base}/:packId`,
    {
      config: { permission: 'administrator', audit: 'content_pack:delete' },
      schema: {
        summary: 'Delete a content pack that is not installed',
        tags,
        params: packParams,
        response: { 204: nothing },
      },
    },
    async ({ params: { packId } }, reply) => {
      const packs = await revisionsOf(store, packId);
      await assertNotInstalled(store, packs);
      for (const { rev } of packs) await store.removePack(packId, rev);
      return reply.code(204).send(null);
    },
  );

  app.delete(
    `${base}/:packId/:revision`,
    {
      config: { permission: 'administrator', audit: 'content_pack:delete' },
      schema: {
        summary: 'Delete a revision of a content pack that is not installed',
        tags,
        params: revisionParams,
        response: { 204: nothing },
      },
    },
    async ({ params }, reply) => {
      const pack = await packOf(store, params.packId, params.revision);
      await assertNotInstalled(store, [pack]);
      await store.removePack(pack.id, pack.rev);
      return reply.code(204).send(null);
    },
  );
}

async function assertNotInstalled(store: PackStore, packs: readonly ContentPack[]): Promise<void> {
  const installations = await store.installations();
  const one = installations.find(({ content_pack_id: pack, content_pack_revision: rev }) =>
    packs.some((other) => other.id === pack && other.rev === rev),
  );
  if (one !== undefined)
    throw failure('API_IN_USE', `The content pack is installed (${one._id}); uninstall it first.`, {
      body: { installation: one._id },
    });
}

function addInstalling(app: ApiServer, store: PackStore): void {
  app.get(
    `${base}/:packId/installations`,
    {
      config: { permission: 'administrator' },
      schema: {
        summary: 'Installations of a content pack',
        tags,
        params: packParams,
        response: { 200: Type.Object({ total: Type.Integer(), installations: Type.Array(installation) }) },
      },
    },
    async ({ params: { packId } }) => {
      const installations = (await store.installations()).filter((one) => one.content_pack_id === packId);
      return { total: installations.length, installations: [...installations] };
    },
  );

  app.post(
    `${base}/:packId/:revision/installations`,
    {
      config: { permission: 'administrator', audit: 'content_pack:install' },
      schema: {
        summary: 'Make what a content pack holds, as far as Sluice has it; the answer says what was not made, and why',
        tags,
        params: revisionParams,
        body: Type.Optional(installBody),
        response: { 200: installation },
      },
    },
    async (request) => {
      const { packId, revision: rev } = request.params;
      const pack = await packOf(store, packId, rev);
      await store.assertRoom();
      const { parameters, comment } =
        (request.body as
          | { readonly parameters?: Readonly<Record<string, unknown>> | null; readonly comment?: string | null }
          | undefined) ?? {};
      const { entities, skipped } = await installPack(pack, parameters ?? {}, askingAs(app, request));
      const made: Installation = {
        _id: randomBytes(12).toString('hex'),
        content_pack_id: packId,
        content_pack_revision: rev,
        comment: comment ?? '',
        created_at: new Date().toISOString(),
        created_by: request.identity.username,
        entities: [...entities],
        skipped_entities: [...skipped],
      };
      await store.addInstallation(made);
      request.audited = {
        object: `${packId}/${rev}`,
        details: { installation: made._id, made: entities.length, skipped: skipped.length },
      };
      return made;
    },
  );

  app.delete(
    `${base}/:packId/installations/:installationId`,
    {
      config: { permission: 'administrator', audit: 'content_pack:uninstall' },
      schema: {
        summary: 'Delete what an installation made',
        tags,
        params: installationParams,
        response: { 200: uninstalledAnswer },
      },
    },
    async (request) => {
      const { packId, installationId } = request.params;
      const made = found(
        'installation',
        (await store.installations()).find((one) => one.content_pack_id === packId && one._id === installationId),
      );
      const { removed, failed } = await uninstall(made.entities, askingAs(app, request));
      if (failed.length === 0) await store.removeInstallation(made);
      return { uninstalled_objects: [...removed], failed_objects: [...failed] };
    },
  );
}
