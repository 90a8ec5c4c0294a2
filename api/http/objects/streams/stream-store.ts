/** Reading and changing streams for those who may. */
import { apiIdOf } from '../../../../core/object-ids.js';
import type { Static } from 'typebox';
import type { Catalog, CatalogItem, Definitions, StoredDefinition } from '../../../../definitions/contract.js';
import { mayEditStream, mayReadStream, unrestrictedScope, type Identity } from '../../../../schemas/access.js';
import { failure, invalidMembers } from '../../failure.js';
import type { ApiServices } from '../../services.js';
import { assertChangeable, found, storing } from '../changing.js';
import { idFromTitle } from '../id-from-title.js';
import { given, listOf, textOf } from '../shapes.js';
import { showStream, takeStream, type streamAnswer, type StreamBody } from './stream-shape.js';

type Settings = Readonly<Record<string, unknown>>;

type ShownStream = Static<typeof streamAnswer>;
type StreamPorts = Pick<ApiServices, 'definitions' | 'searcher'>;

export interface StreamStore {
  /** Those that may be read. */
  list(identity: Identity): Promise<ShownStream[]>;
  read(id: string, identity: Identity): Promise<ShownStream>;
  item(id: string): Promise<CatalogItem>;
  /**
   * The id of the new stream. Who is no administrator may read and edit it from then on. `more`: settings beside the
   * body.
   */
  create(body: StreamBody, by: Identity, more?: Settings): Promise<string>;
  update(id: string, body: StreamBody, by: string): Promise<void>;
  change(id: string, by: string, changes: (settings: Settings) => Settings): Promise<void>;
  /** Outputs that name the stream forget it. */
  remove(id: string, by: string): Promise<void>;
}

export function createStreamStore(ports: StreamPorts): StreamStore {
  const { definitions } = ports;
  const item = async (id: string): Promise<CatalogItem> =>
    found('stream', (await definitions.catalog()).find('streams', id));
  return {
    async list(identity) {
      const catalog = await definitions.catalog();
      return catalog
        .list('streams')
        .filter(({ id }) => mayReadStream(identity.scope, id))
        .map((stream) => show(stream, catalog, identity));
    },
    async read(id, identity) {
      const catalog = await definitions.catalog();
      return show(found('stream', catalog.find('streams', id)), catalog, identity);
    },
    item,
    create: (body, by, more = {}) => create(ports, body, by, more),
    update: (id, body, by) => update(definitions, id, body, by),
    change: (id, by, changes) => change(definitions, id, by, changes),
    remove: (id, by) => remove(definitions, id, by),
  };
}

const show = (item: CatalogItem, catalog: Catalog, identity: Identity): ShownStream =>
  showStream(item, outputsOf(item.id, catalog), mayEditStream(identity, item.id));

const indexSetOf =
  (catalog: Catalog) =>
  (name: string): string => {
    const set = catalog.find('index-sets', name);
    if (set === undefined) throw invalidMembers({ index_set_id: [`There is no index set ${name}.`] });
    return set.id;
  };

async function create(
  { definitions, searcher }: StreamPorts,
  body: StreamBody,
  by: Identity,
  more: Settings,
): Promise<string> {
  const catalog = await definitions.catalog();
  const settings = { ...more, ...takeStream(body, indexSetOf(catalog)) };
  const { title, name } = body.entity ?? body;
  if (title === undefined) throw invalidMembers({ title: ['A stream needs a title.'] });
  const writer = definitions.writer();
  if (name !== undefined && catalog.find('streams', name) !== undefined)
    throw failure('API_EXISTS', `There is a stream ${name} already.`);
  const isTaken = (id: string): boolean => catalog.find('streams', id) !== undefined || writer.wasUsed('streams', id);
  const id = name ?? idFromTitle(title, 'stream', isTaken);
  if (!by.administrator && (writer.wasUsed('streams', id) || (await holdsMessages(searcher, id))))
    throw failure(
      'API_EXISTS',
      `A stream ${id} was there before, and its messages still are: only an administrator gives its id to another one.`,
    );
  await storing(() =>
    writer.create(
      'streams',
      id,
      { definition: { id, enabled: false, ...settings }, ownerId: by.administrator ? undefined : by.userId },
      by.username,
    ),
  );
  return id;
}

async function update(definitions: Definitions, id: string, body: StreamBody, by: string): Promise<void> {
  const { matching_type: matchingType } = body.entity ?? body;
  if (matchingType !== undefined && matchingType !== null && !['AND', 'OR'].includes(matchingType))
    throw invalidMembers({ matching_type: ['AND or OR.'] });
  const taken = takeStream(body, indexSetOf(await definitions.catalog()));
  await change(definitions, id, by, ({ when }) => {
    if ('when' in taken) return { ...taken, rules: undefined, matching_type: undefined };
    // A stream with a condition shows no rules: a client that writes back what it read has changed nothing of it.
    if (when !== undefined && listOf(taken['rules']).length === 0)
      return { ...taken, rules: undefined, matching_type: undefined };
    return 'rules' in taken ? { ...taken, when: undefined } : taken;
  });
}

/** For a stream that ships, only the settings that were changed are stored. */
async function change(
  definitions: Definitions,
  id: string,
  by: string,
  changes: (settings: Settings) => Settings,
): Promise<void> {
  const item = found('stream', (await definitions.catalog()).find('streams', id));
  assertChangeable('stream', item);
  await storing(() =>
    definitions.writer().change(
      'streams',
      id,
      (before) => {
        const definition = { ...before?.definition, id };
        return { definition: given({ ...definition, ...changes({ ...item.settings, ...before?.definition }) }) };
      },
      by,
    ),
  );
}

async function remove(definitions: Definitions, id: string, by: string): Promise<void> {
  const writer = definitions.writer();
  const namesIt = ({ kind, definition }: StoredDefinition): boolean =>
    kind === 'outputs' && listOf<string>(definition['streams']).includes(id);
  for (const output of definitions.stored().filter(namesIt))
    await storing(() => writer.change('outputs', output.id, (before) => withoutStream(before, id), by));
  await storing(() => writer.remove('streams', id, by));
  if (writer.find('connections', id) !== undefined) await storing(() => writer.remove('connections', id, by));
}

function withoutStream(before: StoredDefinition | undefined, id: string): { readonly definition: Settings } {
  const streams = listOf<string>(before?.definition['streams']).filter((stream) => stream !== id);
  return { definition: { ...before?.definition, streams } };
}

/** True for a stream that stood in a file or was deleted. Who creates one with its id would read those messages. */
async function holdsMessages(searcher: ApiServices['searcher'], id: string): Promise<boolean> {
  return (
    (
      await searcher.aggregate(
        { query: '', streams: [id], aggregate: { groups: [], metrics: [] } },
        { scope: unrestrictedScope },
      )
    ).total > 0
  );
}

function outputsOf(stream: string, all: Catalog): { id: string; title: string; type: string }[] {
  const named = listOf<string>(all.find('streams', stream)?.settings['outputs']);
  return all
    .list('outputs')
    .filter(({ id, settings }) => named.includes(id) || listOf<string>(settings['streams']).includes(stream))
    .map(({ id, settings }) => ({
      id: apiIdOf(id),
      title: textOf(settings['title'], id),
      type: textOf(settings['type']),
    }));
}
