/** How each route that shows messages is asked for all of them, and how many it says there are. */
import { setTimeout as wait } from 'node:timers/promises';
import { marks, type Asker, type Mark, type MatrixWorld } from './world.js';

interface Seen {
  readonly status: number;
  readonly text: string;
}

interface Question {
  readonly ask: (name: string) => Promise<Seen>;
  /** Undefined: the answer counts nothing. */
  readonly count: ((seen: Seen) => unknown) | undefined;
  /** What of the answer does not repeat the question. */
  readonly told: (seen: Seen) => string;
  /** Others are refused. */
  readonly only?: (asker: Asker) => boolean;
  /** Only these messages are asked for. */
  readonly of?: readonly Mark[];
}

type Json = Readonly<Record<string, unknown>>;
type Results = Readonly<Record<string, { readonly search_types: Readonly<Record<string, Json>> }>>;

export const jsonOf = ({ text }: Seen): Json => JSON.parse(text) as Json;
const whole = ({ text }: Seen): string => text;
const rowsOf = (seen: Seen): string => JSON.stringify(jsonOf(seen)['datarows']);
const totalOfTable = (seen: Seen): unknown => (jsonOf(seen)['metadata'] as Json)['total_results'];
const withoutHead = ({ text }: Seen): string => text.slice(text.indexOf('\n') + 1);

export const everything = { type: 'relative', range: 0 } as const;
const searchId = 'a'.repeat(24);
const list = 'list';
const byHost = {
  type: 'pivot',
  id: 'by-host',
  row_groups: [{ type: 'values', fields: ['source'], limit: 100 }],
  column_groups: [],
  series: [{ type: 'count', id: 'count()' }],
  rollup: true,
  sort: [],
};
const byTime = {
  ...byHost,
  id: 'by-time',
  row_groups: [{ type: 'time', fields: ['timestamp'], interval: { type: 'auto', scaling: 1 } }],
};
export const search = {
  id: searchId,
  queries: [
    {
      id: 'q',
      timerange: everything,
      query: { query_string: '*' },
      search_types: [{ id: list, type: 'messages', limit: 150, offset: 0 }, byHost, byTime],
    },
  ],
};

/** Its three search types count the same messages. */
function totalOfSearch(seen: Seen): unknown {
  const {
    [list]: messages,
    'by-host': hosts,
    'by-time': times,
  } = (jsonOf(seen)['results'] as Results)['q']?.search_types ?? {};
  const totals = [messages?.['total_results'], hosts?.['total'], times?.['total']];
  return totals.every((total) => total === totals[0]) ? totals[0] : JSON.stringify(totals);
}

const sampled = (seen: Seen): unknown => {
  const { examined, matched, samples } = jsonOf(seen);
  const counts = [examined, matched, (samples as readonly unknown[]).length];
  return counts.every((count) => count === examined) ? examined : JSON.stringify(counts);
};

const suggested = (seen: Seen): string => JSON.stringify(jsonOf(seen)['suggestions']);
const occurrences = (seen: Seen): number =>
  (jsonOf(seen)['suggestions'] as readonly { readonly occurrence: number }[]).reduce(
    (sum, { occurrence }) => sum + occurrence,
    0,
  );

const history = { messages: 1_000, samples: 100, max_seconds: 60 };
const csvFields = ['timestamp', 'source', 'message', ...marks.map((mark) => `${mark}_field`)];
const aggregate = {
  timerange: everything,
  group_by: [{ field: 'source', limit: 100 }],
  metrics: [{ function: 'count' }],
};
const fromTo = `from=2000-01-01T00:00:00.000Z&to=${encodeURIComponent(new Date(Date.now() + 3_600_000).toISOString())}`;
const keyword = `keyword=${encodeURIComponent('last 60 minutes')}`;
const can =
  (capability: string) =>
  (asker: Asker): boolean =>
    asker.capabilities.includes(capability);

export function questionsOf({ askAs }: MatrixWorld): Readonly<Record<string, readonly Question[]>> {
  const asked = async (
    name: string,
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Seen> => {
    const answer = await askAs(name, method, path, { headers, ...(body === undefined ? {} : { body }) });
    return { status: answer.statusCode, text: answer.body };
  };
  const get = (path: string, count: Question['count'], told: Question['told'] = whole): Question => ({
    ask: (name) => asked(name, 'GET', path),
    count,
    told,
  });
  const post = (path: string, body: unknown, count: Question['count'], told: Question['told'] = whole): Question => ({
    ask: (name) => asked(name, 'POST', path, body),
    count,
    told,
  });
  const csv = (method: string, path: string, body?: unknown): Question => ({
    ask: (name) => asked(name, method, path, body, { accept: 'text/csv' }),
    told: withoutHead,
    count: (seen) =>
      withoutHead(seen)
        .split('\n')
        .filter((line) => line !== '').length,
  });
  const total = (seen: Seen): unknown => jsonOf(seen)['total_results'];
  const job: Question = {
    async ask(name) {
      const begun = await asked(name, 'POST', `/api/views/search/${searchId}/execute`, {});
      if (begun.status !== 201) return begun;
      const { id } = jsonOf(begun);
      for (;;) {
        const seen = await asked(name, 'GET', `/api/views/search/status/${String(id)}`);
        if ((jsonOf(seen)['execution'] as Json)['done'] === true) return seen;
        await wait(10);
      }
    },
    count: totalOfSearch,
    told: whole,
  };
  return {
    'GET /api/search/universal/relative': [
      get('/api/search/universal/relative?range=0&limit=1000', total),
      csv('GET', '/api/search/universal/relative?range=0&limit=1000'),
    ],
    'GET /api/search/universal/absolute': [get(`/api/search/universal/absolute?${fromTo}&limit=1000`, total)],
    'GET /api/search/universal/keyword': [get(`/api/search/universal/keyword?${keyword}&limit=1000`, total)],
    'GET /api/search/universal/relative/export': [csv('GET', '/api/search/universal/relative/export?range=0')],
    'GET /api/search/universal/absolute/export': [csv('GET', `/api/search/universal/absolute/export?${fromTo}`)],
    'GET /api/search/universal/keyword/export': [csv('GET', `/api/search/universal/keyword/export?${keyword}`)],
    'GET /api/search/messages': [
      get('/api/search/messages?timerange=1d&size=1000&fields=message,source,streams,_index', totalOfTable),
    ],
    'POST /api/search/messages': [
      post(
        '/api/search/messages',
        {
          timerange: everything,
          size: 1_000,
          fields: ['message', 'source', 'streams', ...marks.map((mark) => `${mark}_field`)],
        },
        totalOfTable,
        rowsOf,
      ),
    ],
    'GET /api/search/aggregate': [
      get('/api/search/aggregate?timerange=1d&groups=source:100&metrics=count', totalOfTable),
    ],
    'POST /api/search/aggregate': [
      post('/api/search/aggregate', aggregate, totalOfTable),
      post(
        '/api/search/aggregate',
        {
          ...aggregate,
          group_by: [
            { field: 'source', limit: 100 },
            { field: 'streams', limit: 100 },
          ],
        },
        totalOfTable,
        rowsOf,
      ),
      post(
        '/api/search/aggregate',
        { ...aggregate, metrics: marks.map((mark) => ({ function: 'sum', field: `${mark}_number` })) },
        totalOfTable,
        rowsOf,
      ),
      post(
        '/api/search/aggregate',
        {
          timerange: everything,
          group_by: [{ field: 'source', limit: 100 }],
          metrics: marks.map((mark) => ({ function: 'latest', field: `${mark}_field` })),
        },
        totalOfTable,
        rowsOf,
      ),
    ],
    'POST /api/search/suggest': [
      post('/api/search/suggest', { field: 'source', input: 'mark', timerange: everything, size: 100 }, occurrences),
      ...marks.map(
        (mark): Question => ({
          ...post('/api/search/suggest', { field: `${mark}_field`, timerange: everything }, undefined, suggested),
          of: [mark],
        }),
      ),
      {
        ...post('/api/search/suggest', { field: 'streams', timerange: everything, size: 100 }, undefined, suggested),
        of: [],
      },
    ],
    'POST /api/views/search/sync': [post('/api/views/search/sync', { queries: search.queries }, totalOfSearch)],
    'POST /api/views/search/:id/execute': [job],
    'GET /api/views/search/status/:jobId': [job],
    'POST /api/views/search/messages': [
      csv('POST', '/api/views/search/messages', { timerange: everything, fields_in_order: csvFields }),
    ],
    'POST /api/views/search/messages/:searchId': [
      csv('POST', `/api/views/search/messages/${searchId}`, { fields_in_order: csvFields }),
    ],
    'POST /api/views/search/messages/:searchId/:searchTypeId': [
      csv('POST', `/api/views/search/messages/${searchId}/${list}`, { fields_in_order: csvFields }),
    ],
    'GET /api/system/fields': [get('/api/system/fields', undefined)],
    'GET /api/views/fields': [get('/api/views/fields', undefined)],
    'POST /api/streams/:streamId/try/history': [
      {
        ...post('/api/streams/alpha/try/history', history, undefined),
        of: ['markalpha', 'markshared', 'markboth'],
        only: ({ reads }) => reads.includes('alpha'),
      },
    ],
    'POST /api/streams/try/history': [
      {
        ...post('/api/streams/try/history', { when: { field: 'source', exists: true }, ...history }, sampled),
        only: can('streams:create'),
      },
    ],
    'POST /api/rules/try/history': [
      {
        ...post('/api/rules/try/history', { when: { field: 'source', exists: true }, ...history }, sampled),
        only: can('rules:edit'),
      },
    ],
  };
}

/** Routes that show messages, and are asked in another way than the ones above. */
export const askedElsewhere: ReadonlySet<string> = new Set([
  'GET /api/search/tail',
  'GET /api/messages/:index/:messageId',
]);
