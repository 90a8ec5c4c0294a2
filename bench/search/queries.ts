/** What people ask: kinds of searches with their share, each time in other words, as the search page sends them. */
import { createRandom, type Random } from '../../load/random.js';
import type { Api } from './api.js';
import { apps, drawWord, namespaces, words } from './documents.js';

interface SearchKind {
  readonly name: string;
  /** How many of 100 searches are of this kind. */
  readonly share: number;
  /** Undefined: a message that was shown before, by its id. */
  readonly body: ((random: Random) => readonly SearchType[]) | undefined;
  readonly query: (random: Random) => string;
}

type SearchType = Readonly<Record<string, unknown>>;

const list: SearchType = {
  id: 'list',
  type: 'messages',
  limit: 150,
  offset: 0,
  sort: [{ field: 'timestamp', order: 'DESC' }],
};
const histogram: SearchType = {
  id: 'chart',
  type: 'pivot',
  row_groups: [{ type: 'time', fields: ['timestamp'], interval: { type: 'auto' } }],
  series: [{ type: 'count', id: 'count()' }],
  rollup: true,
};
const topPods: SearchType = {
  id: 'top',
  type: 'pivot',
  row_groups: [{ type: 'values', fields: ['pod'], limit: 15 }],
  series: [
    { type: 'count', id: 'count()' },
    { type: 'avg', field: 'took_ms', id: 'avg(took_ms)' },
  ],
  sort: [{ type: 'series', field: 'count()', direction: 'Descending' }],
  rollup: true,
};
const page = (): readonly SearchType[] => [histogram, list];

/** Neither the most frequent words nor those that hardly occur. */
const middling = (random: Random): string => words[20 + (random() % 400)] as string;
const rare = (random: Random): string => words[3_000 + (random() % 12_000)] as string;

function fieldAndNot(random: Random): string {
  const at = random() % apps.length;
  return `namespace:${namespaces[at % namespaces.length]} AND container:${apps[at]} AND NOT level:(6 OR 7)`;
}

export const kinds: readonly SearchKind[] = [
  { name: 'newest', share: 25, body: page, query: () => '' },
  {
    name: 'term and phrase',
    share: 15,
    body: page,
    query: (random) => `${middling(random)} AND "${drawWord(random)} ${drawWord(random)}"`,
  },
  { name: 'rare term', share: 5, body: page, query: rare },
  { name: 'field and not', share: 17, body: page, query: fieldAndNot },
  { name: 'wildcard', share: 5, body: page, query: (random) => `${middling(random).slice(0, 4)}*` },
  {
    name: 'regex',
    share: 3,
    body: page,
    query: (random) => `message:/${middling(random).slice(0, 3)}[a-z]+(ed|or|on)/`,
  },
  { name: 'range', share: 5, body: page, query: (random) => `took_ms:>${1_000 + (random() % 3_000)}` },
  { name: '_exists_', share: 5, body: page, query: () => '_exists_:trace_id' },
  {
    name: 'terms aggregate',
    share: 10,
    body: () => [topPods],
    query: (random) => (random() % 2 === 0 ? '' : `level:[0 TO ${3 + (random() % 2)}]`),
  },
  { name: 'message by id', share: 10, body: undefined, query: () => '' },
];

/** A kind by its share. */
export function drawKind(random: Random): SearchKind {
  let left = random() % kinds.reduce((sum, { share }) => sum + share, 0);
  return kinds.find(({ share }) => (left -= share) < 0) ?? (kinds[0] as SearchKind);
}

interface Asked {
  readonly ms: number;
  /** Undefined: well answered. */
  readonly problem: string | undefined;
  readonly total: number;
}

export interface Asker {
  /** `range`: seconds back; 0: everything. */
  ask(kind: SearchKind, range: number): Promise<Asked>;
}

/** Messages that are remembered to be looked up. */
const shownKept = 500;

export function createAsker(api: Api, seed = 3): Asker {
  const random = createRandom(seed);
  const shown: { readonly index: string; readonly id: string }[] = [];
  let turn = 0;
  return {
    async ask(kind, range) {
      const user = api.users[turn % api.users.length] as string;
      turn += 1;
      const message = kind.body === undefined ? shown[random() % Math.max(1, shown.length)] : undefined;
      const body = {
        queries: [
          {
            id: 'query',
            query: { type: 'elasticsearch', query_string: kind.query(random) },
            timerange: { type: 'relative', range },
            search_types: kind.body?.(random) ?? [list],
          },
        ],
      };
      const started = performance.now();
      const { status, text } =
        message === undefined
          ? await api.call(user, 'POST', '/api/views/search/sync', body)
          : await api.call(user, 'GET', `/api/messages/${message.index}/${message.id}`);
      const ms = performance.now() - started;
      if (message !== undefined)
        return {
          ms,
          problem: status === 200 ? undefined : status === 404 ? undefined : `${status} ${text.slice(0, 200)}`,
          total: 1,
        };
      const read = readAnswer(status, text);
      for (const one of read.messages.slice(0, 5))
        shown[shown.length < shownKept ? shown.length : random() % shownKept] = one;
      return { ms, problem: read.problem, total: read.total };
    },
  };
}

interface SearchAnswer {
  readonly results?: {
    readonly query?: {
      readonly errors: readonly { readonly description: string }[];
      readonly search_types: Readonly<Record<string, TypeAnswer>>;
    };
  };
}
interface TypeAnswer {
  readonly total_results?: number;
  readonly total?: number;
  readonly partial?: boolean;
  readonly messages?: readonly {
    readonly message: { readonly _id: string; readonly timestamp: string };
    readonly index: string;
  }[];
}

function readAnswer(
  status: number,
  text: string,
): {
  readonly problem: string | undefined;
  readonly total: number;
  readonly messages: { index: string; id: string }[];
} {
  if (status !== 200) return { problem: `${status} ${text.slice(0, 200)}`, total: 0, messages: [] };
  const result = (JSON.parse(text) as SearchAnswer).results?.query;
  const types = Object.values(result?.search_types ?? {});
  const messages = types.flatMap((type) => type.messages ?? []);
  const late = messages.findIndex(
    ({ message }, at) => at > 0 && message.timestamp > (messages[at - 1]?.message.timestamp ?? ''),
  );
  const problem =
    result === undefined
      ? 'no result'
      : (result.errors[0]?.description ??
        (types.some(({ partial }) => partial === true) ? 'a part only' : late >= 0 ? 'out of order' : undefined));
  return {
    problem,
    total: Math.max(0, ...types.map((type) => type.total_results ?? type.total ?? 0)),
    messages: messages.map(({ message, index }) => ({ index, id: message._id })),
  };
}
