/**
 * Bodies of searches, views and their results, in the shapes that existing clients send and read. Members that are not
 * named here are kept where the object is kept.
 */
import { Type, type Static } from 'typebox';
import { maxQueryLength } from './config/search.js';

const text = (maxLength: number) => Type.String({ maxLength });
const objectId = Type.String({ pattern: '^[0-9a-fA-F]{24}$', description: '24 hexadecimal characters.' });
/** The setting `search.max_query_length` is the limit that is told. */
export const queryText = (more: { readonly default?: string; readonly description?: string } = {}) =>
  Type.String({ ...more, maxLength: maxQueryLength });
const fieldName = text(256);

export const timeRangeBody = Type.Object(
  {
    type: Type.Union([Type.Literal('relative'), Type.Literal('absolute'), Type.Literal('keyword')]),
    range: Type.Optional(Type.Integer({ minimum: 0, description: 'Seconds back from now; 0: everything.' })),
    from: Type.Optional(
      Type.Union([Type.Integer({ minimum: 0 }), text(100)], {
        description: 'relative: seconds back from now. absolute: ISO 8601 or `2026-01-02 03:04:05.678`.',
      }),
    ),
    to: Type.Optional(Type.Union([Type.Integer({ minimum: 0 }), text(100)])),
    keyword: Type.Optional(Type.String({ maxLength: 200, description: 'last five minutes, yesterday, last 2 days' })),
    timezone: Type.Optional(text(64)),
  },
  { description: 'Half-open: from <= timestamp < to.' },
);

export const queryBody = Type.Object(
  { type: Type.Optional(text(64)), query_string: queryText() },
  { description: 'Query text, see docs/search.md.' },
);

const filterBody = Type.Record(Type.String(), Type.Unknown(), {
  description: '`{type: or, filters: [{type: stream, id}]}`',
});

const searchFilters = Type.Optional(
  Type.Union(
    [
      Type.Array(
        Type.Object({
          type: text(64),
          queryString: Type.Optional(queryText()),
          negation: Type.Optional(Type.Boolean()),
          disabled: Type.Optional(Type.Boolean()),
        }),
        { maxItems: 100 },
      ),
      Type.Null(),
    ],
    { description: '`[{type: inlineQueryString, queryString}]`: all of them must match too.' },
  ),
);

const searchTypeBody = Type.Object({
  id: Type.Optional(text(64)),
  name: Type.Optional(Type.Union([text(200), Type.Null()])),
  type: text(64),
  timerange: Type.Optional(Type.Union([timeRangeBody, Type.Null()])),
  query: Type.Optional(Type.Union([queryBody, Type.Null()])),
  streams: Type.Optional(Type.Union([Type.Array(text(100), { maxItems: 1_000 }), Type.Null()])),
  filter: Type.Optional(Type.Union([filterBody, Type.Null()])),
  filters: searchFilters,
  limit: Type.Optional(Type.Integer({ minimum: 0 })),
  offset: Type.Optional(Type.Integer({ minimum: 0 })),
  fields: Type.Optional(Type.Union([Type.Array(fieldName, { maxItems: 500 }), Type.Null()])),
  row_groups: Type.Optional(Type.Array(Type.Record(Type.String(), Type.Unknown()), { maxItems: 5 })),
  column_groups: Type.Optional(Type.Array(Type.Record(Type.String(), Type.Unknown()), { maxItems: 5 })),
  series: Type.Optional(Type.Array(Type.Record(Type.String(), Type.Unknown()), { maxItems: 50 })),
  rollup: Type.Optional(Type.Boolean()),
  sort: Type.Optional(
    Type.Union([Type.Array(Type.Record(Type.String(), Type.Unknown()), { maxItems: 5 }), Type.Null()]),
  ),
});

const typeOverride = Type.Partial(Type.Omit(searchTypeBody, ['id', 'type']), { additionalProperties: false });
export type TypeOverride = Static<typeof typeOverride>;

const queryOfSearchBody = Type.Object({
  id: Type.Optional(text(64)),
  query: Type.Optional(queryBody),
  timerange: Type.Optional(timeRangeBody),
  filter: Type.Optional(Type.Union([filterBody, Type.Null()])),
  filters: searchFilters,
  streams: Type.Optional(Type.Array(text(100), { maxItems: 1_000 })),
  search_types: Type.Optional(Type.Array(searchTypeBody, { maxItems: 100 })),
});

export const searchBody = Type.Object(
  {
    id: Type.Optional(objectId),
    queries: Type.Optional(Type.Array(queryOfSearchBody, { maxItems: 50 })),
    parameters: Type.Optional(
      Type.Union([Type.Array(Type.Unknown(), { maxItems: 0 }), Type.Null()], {
        description: 'There are no parameters: what is written as `$name$` is text.',
      }),
    ),
  },
  { description: 'A search.' },
);

export type TimeRangeBody = Static<typeof timeRangeBody>;
export type SearchTypeBody = Static<typeof searchTypeBody>;
export type QueryOfSearchBody = Static<typeof queryOfSearchBody>;
export type SearchBody = Static<typeof searchBody>;

/** A search as it is kept. */
export interface StoredSearch extends Omit<SearchBody, 'id' | 'queries'> {
  readonly id: string;
  readonly owner: string;
  readonly owner_id: string;
  readonly created_at: string;
  readonly queries: readonly (QueryOfSearchBody & { readonly id: string })[];
}

export const searchAnswer = Type.Object({
  id: Type.String(),
  owner: Type.String(),
  created_at: Type.String(),
  queries: Type.Array(Type.Unknown()),
  parameters: Type.Array(Type.Unknown()),
  requires: Type.Object({}),
  skip_no_streams_check: Type.Boolean(),
});

const viewMembers = {
  id: Type.Optional(objectId),
  type: Type.Optional(Type.Union([Type.Literal('SEARCH'), Type.Literal('DASHBOARD')])),
  title: Type.Optional(text(255)),
  summary: Type.Optional(Type.Union([text(1_000), Type.Null()])),
  description: Type.Optional(Type.Union([text(10_000), Type.Null()])),
  search_id: Type.Optional(text(64)),
  properties: Type.Optional(Type.Array(Type.Unknown(), { maxItems: 1_000 })),
  state: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
};

/** Flat, or wrapped: clients of different versions send either. */
export const viewBody = Type.Object(
  { ...viewMembers, entity: Type.Optional(Type.Object(viewMembers)), share_request: Type.Optional(Type.Unknown()) },
  { description: 'A view: a saved search or a dashboard, flat or as the member entity.' },
);
export type ViewBody = Omit<Static<typeof viewBody>, 'entity' | 'share_request'>;

export const viewAnswer = Type.Object({
  id: Type.String(),
  type: Type.String(),
  title: Type.String(),
  summary: Type.String(),
  description: Type.String(),
  search_id: Type.String(),
  properties: Type.Array(Type.Unknown()),
  requires: Type.Object({}),
  state: Type.Record(Type.String(), Type.Unknown()),
  owner: Type.String(),
  created_at: Type.String(),
  last_updated_at: Type.String(),
  favorite: Type.Boolean(),
});

/** A view as it is kept. */
export interface StoredView {
  readonly id: string;
  readonly type: 'SEARCH' | 'DASHBOARD';
  readonly title: string;
  readonly summary: string;
  readonly description: string;
  readonly search_id: string;
  readonly properties: readonly unknown[];
  readonly state: Readonly<Record<string, unknown>>;
  readonly owner: string;
  readonly owner_id: string;
  readonly created_at: string;
  readonly last_updated_at: string;
}

const pageMembers = {
  query: Type.String(),
  total: Type.Integer(),
  count: Type.Integer(),
  page: Type.Integer(),
  per_page: Type.Integer(),
  pagination: Type.Object({
    total: Type.Integer(),
    count: Type.Integer(),
    page: Type.Integer(),
    per_page: Type.Integer(),
  }),
  sort: Type.String(),
  order: Type.String(),
};
export const viewsPage = Type.Object({ ...pageMembers, views: Type.Array(viewAnswer) });
export const elementsPage = Type.Object({
  ...pageMembers,
  elements: Type.Array(viewAnswer),
  views: Type.Array(viewAnswer),
});

export const pageQuery = Type.Object({
  page: Type.Integer({ minimum: 1, maximum: 1_000_000, default: 1 }),
  per_page: Type.Integer({ minimum: 0, maximum: 1_000, default: 50, description: '0: all.' }),
  query: Type.String({ maxLength: 500, default: '', description: 'Words of the title, summary or description.' }),
  sort: Type.Union(
    [
      Type.Literal('title'),
      Type.Literal('created_at'),
      Type.Literal('last_updated_at'),
      Type.Literal('owner'),
      Type.Literal('id'),
    ],
    { default: 'title' },
  ),
  order: Type.Union([Type.Literal('asc'), Type.Literal('desc')], { default: 'asc' }),
});

const noParameters = Type.Record(Type.String(), Type.Unknown(), {
  maxProperties: 0,
  description: 'There are no parameters.',
});

export const executeBody = Type.Object({
  global_override: Type.Optional(
    Type.Union([
      Type.Object({
        timerange: Type.Optional(Type.Union([timeRangeBody, Type.Null()])),
        query: Type.Optional(Type.Union([queryBody, Type.Null()])),
        keep_search_types: Type.Optional(Type.Union([Type.Array(text(64)), Type.Null()])),
        keep_queries: Type.Optional(Type.Union([Type.Array(text(64)), Type.Null()])),
        limit: Type.Optional(Type.Union([Type.Integer({ minimum: 0 }), Type.Null()])),
        offset: Type.Optional(Type.Union([Type.Integer({ minimum: 0 }), Type.Null()])),
        search_types: Type.Optional(
          Type.Union([Type.Record(Type.String(), typeOverride), Type.Null()], {
            description: 'By id: members that take the place of those of this search type, and go before those of all.',
          }),
        ),
      }),
      Type.Null(),
    ]),
  ),
  parameter_bindings: Type.Optional(Type.Union([noParameters, Type.Null()])),
  cancel_after_seconds: Type.Optional(Type.Integer({ minimum: 0 })),
});
export type ExecuteBody = Static<typeof executeBody>;

const jobMembers = {
  id: Type.String(),
  search_id: Type.String(),
  owner: Type.String(),
  executing_node: Type.String(),
  execution: Type.Object({ done: Type.Boolean(), cancelled: Type.Boolean(), completed_exceptionally: Type.Boolean() }),
};
export const jobAnswer = Type.Object(jobMembers);
export const jobStatusAnswer = Type.Object({
  ...jobMembers,
  results: Type.Record(Type.String(), Type.Unknown()),
  errors: Type.Array(Type.Unknown()),
  progress: Type.Integer(),
});
