/** Reading and changing outputs for those who may. */
import type { Catalog, Definitions } from '../../../../definitions/contract.js';
import { mayEditStream, mayReadStream, type Identity } from '../../../../schemas/access.js';
import { outputFormats } from '../../../../schemas/outputs/formats.js';
import { failure, invalidMembers } from '../../failure.js';
import type { ApiServices } from '../../services.js';
import { assertChangeable, assertRemovable, found, storing } from '../changing.js';
import {
  countsOutput,
  showOutput,
  showState,
  streamsOf,
  takeOutput,
  type OutputBody,
  type TakenOutput,
} from './output-shape.js';
import { idFromTitle } from '../id-from-title.js';
import { listOf } from '../shapes.js';

type Settings = Readonly<Record<string, unknown>>;
type Secrets = Readonly<Record<string, { readonly value: string }>>;

const idFallback = 'output';

export type OutputStore = ReturnType<typeof createOutputStore>;

export function createOutputStore({ definitions, outputs }: Pick<ApiServices, 'definitions' | 'outputs'>) {
  const statusOf = async (id: string) => (await outputs.status()).find((status) => status.id === id);
  const item = async (name: string) => found('output', (await definitions.catalog()).find('outputs', name));

  return {
    item,
    async state(name: string, identity: Identity) {
      const { id } = await item(name);
      return showState(await statusOf(id), countsOutput(streamsOf(id, await definitions.catalog()), identity));
    },
    async ids(): Promise<readonly string[]> {
      return (await definitions.catalog()).list('outputs').map(({ id }) => id);
    },
    async read(id: string, identity: Identity) {
      const catalog = await definitions.catalog();
      return showOutput(
        found('output', catalog.find('outputs', id)),
        streamsOf(id, catalog),
        identity,
        await statusOf(id),
      );
    },
    create: (body: OutputBody, identity: Identity) => create(definitions, body, identity),
    async change(id: string, body: OutputBody, identity: Identity): Promise<void> {
      const taken = takeOutput(body);
      const catalog = await definitions.catalog();
      assertMayTurn(streamsOf(id, catalog), identity);
      const streams = body.streams === undefined ? {} : { streams: editableStreams(catalog, body.streams, identity) };
      await update(definitions, id, { ...taken, definition: { ...taken.definition, ...streams } }, identity.username);
    },
    async setEnabled(name: string, enabled: boolean, by: string): Promise<void> {
      const output = await item(name);
      assertChangeable('output', output);
      await update(definitions, output.id, { definition: { enabled }, secrets: {} }, by);
    },
    async remove(name: string, by: string): Promise<void> {
      const output = await item(name);
      assertRemovable('output', output);
      await remove(definitions, output.id, by);
    },
    async ofStream(streamId: string): Promise<readonly string[]> {
      const catalog = await definitions.catalog();
      return catalog
        .list('outputs')
        .map(({ id }) => id)
        .filter((id) => streamsOf(id, catalog).includes(streamId));
    },
    attach: (streamId: string, name: string, attached: boolean, by: string) =>
      attach(definitions, { streamId, name, attached }, by),
  };
}

async function update(
  definitions: Definitions,
  id: string,
  { definition, secrets }: TakenOutput,
  by: string,
): Promise<void> {
  await storing(() =>
    definitions.writer().change(
      'outputs',
      id,
      (before) => ({
        definition: { ...before?.definition, ...definition, ...sectionsOf(before?.definition, definition), id },
        secrets: keptSecrets({ ...valuesOf(before?.secrets ?? {}), ...secrets }),
      }),
      by,
    ),
  );
}

async function changeStream(
  definitions: Definitions,
  id: string,
  by: string,
  change: (before: Settings | undefined) => Settings,
): Promise<void> {
  await storing(() =>
    definitions.writer().change('streams', id, (before) => ({ definition: change(before?.definition) }), by),
  );
}

/** The id of the new output. */
async function create(definitions: Definitions, body: OutputBody, identity: Identity): Promise<string> {
  const { title, streams = [] } = body;
  if (title === undefined) throw invalidMembers({ title: ['An output needs a title.'] });
  const { definition, secrets } = takeOutput(body);
  const objects = definitions.writer();
  const catalog = await definitions.catalog();
  // The id is the name of its topic, in which messages of a deleted one may still wait.
  const id = idFromTitle(
    title,
    idFallback,
    (taken) => catalog.find('outputs', taken) !== undefined || objects.wasUsed('outputs', taken),
  );
  const settings = { ...definition, id, streams: editableStreams(catalog, streams, identity) };
  await storing(() =>
    objects.create('outputs', id, { definition: settings, secrets: keptSecrets(secrets) }, identity.username),
  );
  return id;
}

/** Streams that name the output forget it. */
async function remove(definitions: Definitions, output: string, by: string): Promise<void> {
  for (const stream of definitions
    .stored()
    .filter(({ kind, definition }) => kind === 'streams' && listOf<string>(definition['outputs']).includes(output))) {
    await changeStream(definitions, stream.id, by, (before) => ({
      ...before,
      outputs: listOf<string>(before?.['outputs']).filter((id) => id !== output),
    }));
  }
  await storing(() => definitions.writer().remove('outputs', output, by));
}

/** On the side of the output, unless that stands in a file. */
async function attach(
  definitions: Definitions,
  { streamId, name, attached }: { readonly streamId: string; readonly name: string; readonly attached: boolean },
  by: string,
): Promise<void> {
  const catalog = await definitions.catalog();
  const output = found('output', catalog.find('outputs', name));
  const stream = found('stream', catalog.find('streams', streamId));
  const changed = (ids: readonly string[], id: string): readonly string[] =>
    attached ? [...new Set([...ids, id])] : ids.filter((other) => other !== id);
  const named = listOf<string>(stream.settings['outputs']);
  if (output.origin === 'api')
    await update(
      definitions,
      output.id,
      { definition: { streams: changed(listOf<string>(output.settings['streams']), streamId) }, secrets: {} },
      by,
    );
  if (output.origin === 'api' && (attached || !named.includes(output.id))) return;
  assertChangeable('stream', stream);
  await changeStream(definitions, streamId, by, (before) => ({
    ...before,
    id: streamId,
    outputs: changed(named, output.id),
  }));
}

/** Another host would get the messages of all its streams. */
function assertMayTurn(streams: readonly string[], identity: Identity): void {
  if (streams.every((stream) => mayEditStream(identity, stream))) return;
  const shown = streams.filter((stream) => mayReadStream(identity.scope, stream) && !mayEditStream(identity, stream));
  throw failure('API_STREAM_FORBIDDEN', 'Not allowed: the output sends messages of streams that you may not edit.', {
    body: { streams: shown },
  });
}

function editableStreams(catalog: Catalog, names: readonly string[], identity: Identity): string[] {
  return names.map((name) => {
    const stream = catalog.find('streams', name);
    if (stream === undefined || !mayReadStream(identity.scope, stream.id))
      throw invalidMembers({ streams: [`There is no stream ${name}.`] });
    if (!mayEditStream(identity, stream.id))
      throw failure('API_STREAM_FORBIDDEN', 'Not allowed: this needs editing of the stream.', {
        body: { streams: [name] },
      });
    return stream.id;
  });
}

function valuesOf(secrets: Secrets): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(secrets).map(([name, { value }]) => [name, value]));
}

/** Undefined: forget it. */
function keptSecrets(secrets: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(secrets).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

/** Sections that are given in part keep the rest. */
function sectionsOf(before: Settings | undefined, changes: Settings): Record<string, unknown> {
  const given = [...outputFormats.map(({ type }) => type), 'tls'].filter(
    (section) => typeof changes[section] === 'object' && changes[section] !== null,
  );
  return Object.fromEntries(
    given.map((section) => [
      section,
      { ...(before?.[section] as object | undefined), ...(changes[section] as object) },
    ]),
  );
}
