/** Reading and changing streams for those who may. */
import { apiIdOf } from '../../../../core/object-ids.js';
import type { Catalog, CatalogItem } from '../../../../definitions/contract.js';
import { mayEditStream, mayReadStream, unrestrictedScope, type Identity } from '../../../../schemas/access.js';
import { failure, invalidMembers } from '../../failure.js';
import type { ApiServices } from '../../services.js';
import { assertChangeable, found, storing } from '../changing.js';
import { idFromTitle } from '../id-from-title.js';
import { listOf, textOf } from '../shapes.js';
import { showStream, takeStream, type StreamBody } from './stream-shape.js';

type Settings = Readonly<Record<string, unknown>>;

export type StreamStore = ReturnType<typeof createStreamStore>;

export function createStreamStore({ definitions, searcher }: Pick<ApiServices, 'definitions' | 'searcher'>) {
  const catalog = (): Promise<Catalog> => definitions.catalog();

  const show = (item: CatalogItem, all: Catalog, identity: Identity) =>
    showStream(item, outputsOf(item.id, all), mayEditStream(identity, item.id));

  const indexSetOf =
    (all: Catalog) =>
    (name: string): string => {
      const set = all.find('index-sets', name);
      if (set === undefined) throw invalidMembers({ index_set_id: [`There is no index set ${name}.`] });
      return set.id;
    };

  /** Of what ships only the settings that were changed are kept. */
  const change = async (id: string, by: string, changes: (settings: Settings) => Settings): Promise<void> => {
    const item = found('stream', (await catalog()).find('streams', id));
    assertChangeable('stream', item);
    await storing(() =>
      definitions.writer().change(
        'streams',
        id,
        (before) => {
          const definition = { ...before?.definition, id };
          return {
            definition: withoutUndefined({ ...definition, ...changes({ ...item.settings, ...before?.definition }) }),
          };
        },
        by,
      ),
    );
  };

  return {
    async list(identity: Identity) {
      const all = await catalog();
      return all
        .list('streams')
        .filter(({ id }) => mayReadStream(identity.scope, id))
        .map((item) => show(item, all, identity));
    },
    async read(id: string, identity: Identity) {
      const all = await catalog();
      return show(found('stream', all.find('streams', id)), all, identity);
    },
    item: async (id: string): Promise<CatalogItem> => found('stream', (await catalog()).find('streams', id)),
    /** The id of the new stream. Who is no administrator may read and edit it from then on. */
    async create(body: StreamBody, by: Identity, more: Settings = {}): Promise<string> {
      const settings = { ...more, ...takeStream(body, indexSetOf(await catalog())) };
      const { title, name } = body.entity ?? body;
      if (title === undefined) throw invalidMembers({ title: ['A stream needs a title.'] });
      const all = await catalog();
      const objects = definitions.writer();
      if (name !== undefined && all.find('streams', name) !== undefined)
        throw failure('API_EXISTS', `There is a stream ${name} already.`);
      const id =
        name ??
        idFromTitle(
          title,
          'stream',
          (taken) => all.find('streams', taken) !== undefined || objects.wasUsed('streams', taken),
        );
      if (!by.administrator && (objects.wasUsed('streams', id) || (await holdsMessages(searcher, id))))
        throw failure(
          'API_EXISTS',
          `A stream ${id} was there before, and its messages still are: only an administrator gives its id to another one.`,
        );
      await storing(() =>
        objects.create(
          'streams',
          id,
          { definition: { id, enabled: false, ...settings }, ownerId: by.administrator ? undefined : by.userId },
          by.username,
        ),
      );
      return id;
    },
    async update(id: string, body: StreamBody, by: string): Promise<void> {
      const { matching_type: matchingType } = body.entity ?? body;
      if (matchingType !== undefined && matchingType !== null && !['AND', 'OR'].includes(matchingType))
        throw invalidMembers({ matching_type: ['AND or OR.'] });
      const taken = takeStream(body, indexSetOf(await catalog()));
      await change(id, by, ({ when }) => {
        if ('when' in taken) return { ...taken, rules: undefined, matching_type: undefined };
        // A stream with a condition shows no rules: a client that writes back what it read has changed nothing of it.
        if (when !== undefined && listOf(taken['rules']).length === 0)
          return { ...taken, rules: undefined, matching_type: undefined };
        return 'rules' in taken ? { ...taken, when: undefined } : taken;
      });
    },
    change,
    /** Outputs that name the stream forget it. */
    async remove(id: string, by: string): Promise<void> {
      const objects = definitions.writer();
      for (const output of definitions
        .stored()
        .filter(({ kind, definition }) => kind === 'outputs' && listOf<string>(definition['streams']).includes(id))) {
        await storing(() =>
          objects.change(
            'outputs',
            output.id,
            (before) => ({
              definition: {
                ...before?.definition,
                streams: listOf<string>(before?.definition['streams']).filter((stream) => stream !== id),
              },
            }),
            by,
          ),
        );
      }
      await storing(() => objects.remove('streams', id, by));
      if (objects.find('connections', id) !== undefined) await storing(() => objects.remove('connections', id, by));
    },
  };
}

/** Of a stream that stood in a file, or was deleted: who creates one of its id would read them. */
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

function withoutUndefined(settings: Settings): Settings {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
}
