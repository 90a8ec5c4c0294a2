/**
 * Views: saved searches and dashboards. Everybody who is known sees them, since results are held to what the reader may
 * read; they are changed by their owner or an administrator.
 */
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Identity } from '../../../../schemas/access.js';
import {
  elementsPage,
  pageQuery,
  viewAnswer,
  viewBody,
  viewsPage,
  type StoredView,
  type ViewBody,
} from '../../../../schemas/api-search.js';
import type { Static } from 'typebox';
import type { ApiServer } from '../../contract.js';
import { failure, invalidMembers } from '../../failure.js';
import { createViewStore, newObjectId, type ViewStore } from '../../search/view-store.js';
import { viewWithoutNulls } from '../../search/without-nulls.js';
import type { ApiServices } from '../../services.js';

const tags = ['Views'];
const idParameter = Type.Object({ id: Type.String({ maxLength: 64 }) });
type Page = Static<typeof pageQuery>;

export function viewsRoutes(app: ApiServer, services: ApiServices): void {
  const { max_searches: maxSearches, max_views: maxViews } = services.config.api;
  const store = createViewStore(services.state, { maxSearches, maxViews });

  createView(app, store);
  changeView(app, store);
  showView(app, store);
  deleteView(app, store);
  listViews(app, store);
  listViewsByType(app, store);
}

function createView(app: ApiServer, store: ViewStore): void {
  app.post(
    '/api/views',
    {
      preValidation: viewWithoutNulls,
      config: {
        permission: 'views:edit',
        checks: 'of one that is there: its owner, or an administrator',
        audit: 'view:create',
      },
      schema: {
        summary: 'Create a view',
        description:
          'The search must exist. A client may choose the id; the same id again overwrites the view of its owner.',
        tags,
        body: viewBody,
        response: { 200: viewAnswer },
      },
    },
    async (request) => {
      const body = unwrapped(request.body);
      return shown(await save(store, request, { body, id: (body.id ?? newObjectId()).toLowerCase(), must: 'any' }));
    },
  );
}

function changeView(app: ApiServer, store: ViewStore): void {
  app.put(
    '/api/views/:id',
    {
      preValidation: viewWithoutNulls,
      config: {
        permission: 'views:edit',
        checks: 'of one that is there: its owner, or an administrator',
        audit: 'view:update',
      },
      schema: { summary: 'Change a view', tags, params: idParameter, body: viewBody, response: { 200: viewAnswer } },
    },
    async (request) =>
      shown(
        await save(store, request, { body: unwrapped(request.body), id: checkedId(request.params.id), must: 'exist' }),
      ),
  );
}

function showView(app: ApiServer, store: ViewStore): void {
  app.get(
    '/api/views/:id',
    {
      config: { permission: 'authenticated' },
      schema: { summary: 'A view', tags, params: idParameter, response: { 200: viewAnswer } },
    },
    async ({ params }) => {
      const view = await store.view(checkedId(params.id));
      if (view === undefined) throw failure('API_NOT_FOUND', 'There is no such view.');
      return shown(view);
    },
  );
}

function deleteView(app: ApiServer, store: ViewStore): void {
  app.delete(
    '/api/views/:id',
    {
      config: {
        permission: 'views:edit',
        checks: 'of one that is there: its owner, or an administrator',
        audit: 'view:delete',
      },
      schema: { summary: 'Delete a view', tags, params: idParameter, response: { 200: viewAnswer } },
    },
    async (request) => {
      const view = await store.deleteView(checkedId(request.params.id), request.identity);
      request.audited = { object: `view=${view.id} ${view.title}` };
      return shown(view);
    },
  );
}

function listViews(app: ApiServer, store: ViewStore): void {
  app.get(
    '/api/views',
    {
      config: { permission: 'authenticated' },
      schema: { summary: 'All views', tags, querystring: pageQuery, response: { 200: viewsPage } },
    },
    async ({ query }) => page(await store.views(), query),
  );
}

function listViewsByType(app: ApiServer, store: ViewStore): void {
  for (const [url, type, summary] of [
    ['/api/search/saved', 'SEARCH', 'Saved searches'],
    ['/api/dashboards', 'DASHBOARD', 'Dashboards'],
  ] as const) {
    app.get(
      url,
      {
        config: { permission: 'authenticated' },
        schema: { summary, tags, querystring: pageQuery, response: { 200: elementsPage } },
      },
      async ({ query }) => {
        const found = page(
          (await store.views()).filter((view) => view.type === type),
          query,
        );
        return { ...found, elements: found.views };
      },
    );
  }
}

function unwrapped(body: ViewBody & { readonly entity?: ViewBody }): ViewBody {
  return body.entity ?? body;
}

function checkedId(id: string): string {
  if (!/^[0-9a-f]{24}$/i.test(id)) throw failure('API_REQUEST_REFUSED', 'An id has 24 hexadecimal characters.');
  return id.toLowerCase();
}

async function save(
  store: ViewStore,
  request: FastifyRequest,
  { body, id, must }: { readonly body: ViewBody; readonly id: string; readonly must: 'exist' | 'any' },
): Promise<StoredView> {
  const { title, search_id: searchId } = body;
  const missing = {
    ...(title === undefined || title.trim() === '' ? { title: ['must not be blank'] } : {}),
    ...(searchId === undefined ? { search_id: ['must not be blank'] } : {}),
  };
  if (title === undefined || searchId === undefined || Object.keys(missing).length > 0) throw invalidMembers(missing);
  request.audited = { object: `view=${id} ${title}` };
  if ((await store.search(searchId.toLowerCase())) === undefined)
    throw failure('API_REQUEST_REFUSED', `Search ${searchId} not available`);
  const named = { ...body, title, search_id: searchId.toLowerCase() };
  const make = (before: StoredView | undefined): StoredView => storedView(named, id, before, request.identity);
  return store.saveView(id, request.identity, make, must);
}

function storedView(
  body: ViewBody & { readonly title: string; readonly search_id: string },
  id: string,
  before: StoredView | undefined,
  { username, userId }: Identity,
): StoredView {
  const now = new Date().toISOString();
  return {
    id,
    type: body.type ?? before?.type ?? 'SEARCH',
    title: body.title,
    summary: body.summary ?? '',
    description: body.description ?? '',
    search_id: body.search_id,
    properties: body.properties ?? [],
    state: body.state ?? {},
    owner: before?.owner ?? username,
    owner_id: before?.owner_id ?? userId,
    created_at: before?.created_at ?? now,
    last_updated_at: now,
  };
}

/** Members that the schema of the answer does not name, such as the id of the owner, are left out. */
function shown(view: StoredView): Static<typeof viewAnswer> {
  return { ...view, properties: [...view.properties], state: { ...view.state }, requires: {}, favorite: false };
}

function page(
  all: readonly StoredView[],
  { page: number, per_page: size, query, sort, order }: Page,
): Static<typeof viewsPage> {
  const words = query
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  const found = all
    .filter(({ title, summary, description }) =>
      words.every((word) => `${title} ${summary} ${description}`.toLowerCase().includes(word)),
    )
    .sort(
      (one, other) =>
        (one[sort].localeCompare(other[sort]) || one.id.localeCompare(other.id)) * (order === 'asc' ? 1 : -1),
    );
  const views = (size === 0 ? found : found.slice((number - 1) * size, number * size)).map(shown);
  const counts = { total: found.length, count: views.length, page: number, per_page: size };
  return { query, ...counts, pagination: counts, sort, order, views };
}
