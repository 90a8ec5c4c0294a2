/**
 * Searches and views that are created after the start: the ones that ship, and those of the folder of files. What is
 * there already stays as it is.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Compile } from 'typebox/compile';
import { errorText, isSluiceError } from '../../../core/errors.js';
import {
  searchBody,
  viewBody,
  type SearchBody,
  type StoredSearch,
  type StoredView,
  type ViewBody,
} from '../../../schemas/api-search.js';
import type { ApiServices } from '../services.js';
import { withIds } from './execute.js';
import { apiEvents } from '../../events.js';

/** Nobody's: every administrator may change them. */
const owner = { owner: 'system', owner_id: 'system' } as const;
const madeKey = 'settings/shipped_views_made';
/** More is no folder of searches. */
const maxFiles = 1_000;

interface Shipped {
  readonly search: SearchBody & { readonly id: string };
  readonly view: ViewBody & { readonly id: string; readonly title: string; readonly search_id: string };
}

export function shippedViews(): readonly Shipped[] {
  return [
    shipped({
      searchId: '5c1c1a5bb1ac4f0001c10d01',
      viewId: '5c1c1a5bb1ac4f0001c10d02',
      title: 'Cloud events',
      description: 'Events of the orchestration platform.',
      text: 'container:events\\-reader',
    }),
    shipped({
      searchId: '5c1c1a5bb1ac4f0001c10d03',
      viewId: '5c1c1a5bb1ac4f0001c10d04',
      title: 'User session history',
      description: 'Logins and logouts of users in audit messages of applications.',
      text: 'message:CEF AND message:(LOGIN OR LOGOUT OR FORCED_LOGOUT OR SESSION_TIMEOUT)',
    }),
  ];
}

interface ShippedTexts {
  readonly searchId: string;
  readonly viewId: string;
  readonly title: string;
  readonly description: string;
  readonly text: string;
}

function shipped({ searchId, viewId, title, description, text }: ShippedTexts): Shipped {
  const [chart, list] = ['chart', 'list'];
  const queryId = `${viewId.slice(0, 8)}-0000-4000-8000-${viewId.slice(12)}`;
  return {
    search: {
      id: searchId,
      parameters: [],
      queries: [
        {
          id: queryId,
          timerange: { type: 'relative', range: 300 },
          query: { type: 'elasticsearch', query_string: text },
          search_types: [
            {
              id: chart,
              name: 'chart',
              type: 'pivot',
              row_groups: [{ type: 'time', fields: ['timestamp'], interval: { type: 'auto', scaling: 1 } }],
              column_groups: [],
              series: [{ type: 'count', id: 'count()' }],
              rollup: true,
              sort: [],
            },
            { id: list, type: 'messages', limit: 150, offset: 0, sort: [{ field: 'timestamp', order: 'DESC' }] },
          ],
        },
      ],
    },
    view: {
      id: viewId,
      type: 'SEARCH',
      title,
      summary: '',
      description,
      search_id: searchId,
      properties: [],
      state: {
        [queryId]: {
          selected_fields: ['timestamp', 'source', 'message'],
          widgets: [
            { id: 'w-chart', type: 'aggregation', config: { visualization: 'bar' } },
            { id: 'w-list', type: 'messages', config: { fields: ['timestamp', 'source', 'message'] } },
          ],
          widget_mapping: { 'w-chart': [chart], 'w-list': [list] },
        },
      },
    },
  };
}

/** Never rejects: a file that cannot be used is told in the log, and the others are created. */
export async function createViewsAtStart(services: ApiServices): Promise<void> {
  const {
    config: { api },
    state,
    log,
  } = services;
  try {
    if (api.shipped_views && (await state.get(madeKey)) === undefined) {
      for (const { search, view } of shippedViews()) {
        await keepSearch(services, search);
        await keepView(services, view);
      }
      await createOnly(services, madeKey, true);
    }
    await createFromFolder(services, api.views_folder);
  } catch (error) {
    apiEvents.shippedObjectsMissed(log, { error: errorText(error) });
  }
}

async function createFromFolder(services: ApiServices, folder: string): Promise<void> {
  const names = (await readdir(folder).catch(() => [])).sort();
  for (const name of names.filter((one) => one.endsWith('search.json')).slice(0, maxFiles)) {
    await fromFile(services, join(folder, name), async (body) => {
      if (!isSearch.Check(body) || body.id === undefined)
        throw new Error('it is no search with an id of 24 hexadecimal characters');
      return keepSearch(services, { ...body, id: body.id.toLowerCase() });
    });
  }
  for (const name of names.filter((one) => one.endsWith('view.json')).slice(0, maxFiles)) {
    await fromFile(services, join(folder, name), async (body) => {
      const view = isView.Check(body) ? (body.entity ?? body) : undefined;
      if (view?.id === undefined || view.title === undefined || view.search_id === undefined)
        throw new Error('it is no view with id, title and search_id');
      if ((await services.state.get(`searches/${view.search_id.toLowerCase()}`)) === undefined)
        throw new Error(`there is no search ${view.search_id}`);
      return keepView(services, {
        ...view,
        id: view.id.toLowerCase(),
        title: view.title,
        search_id: view.search_id.toLowerCase(),
      });
    });
  }
}

const isSearch = Compile(searchBody);
const isView = Compile(viewBody);

async function fromFile({ log }: ApiServices, file: string, keep: (body: unknown) => Promise<boolean>): Promise<void> {
  try {
    if (await keep(JSON.parse(await readFile(file, 'utf8')))) apiEvents.shippedObjectCreated(log, { file });
  } catch (error) {
    if (isSluiceError(error) && error.retryable) throw error;
    apiEvents.shippedFileRefused(log, { file, error: errorText(error) });
  }
}

function keepSearch(services: ApiServices, body: SearchBody & { readonly id: string }): Promise<boolean> {
  const search: StoredSearch = { ...body, ...owner, created_at: new Date().toISOString(), queries: withIds(body) };
  return createOnly(services, `searches/${body.id}`, search);
}

function keepView(
  services: ApiServices,
  body: ViewBody & { readonly id: string; readonly title: string; readonly search_id: string },
): Promise<boolean> {
  const now = new Date().toISOString();
  const view: StoredView = {
    ...owner,
    id: body.id,
    type: body.type ?? 'SEARCH',
    title: body.title,
    summary: body.summary ?? '',
    description: body.description ?? '',
    search_id: body.search_id,
    properties: body.properties ?? [],
    state: body.state ?? {},
    created_at: now,
    last_updated_at: now,
  };
  return createOnly(services, `views/${body.id}`, view);
}

/** False: it was there already. */
async function createOnly({ state }: ApiServices, key: string, value: unknown): Promise<boolean> {
  try {
    await state.put(key, value, undefined);
    return true;
  } catch (error) {
    if (isSluiceError(error) && error.code === 'STATE_CONFLICT') return false;
    throw error;
  }
}
