/** Ids: every one of an index, and whether one is found already. */
import { storeErrors } from '../../errors.js';
import { tombstoneField } from '../mapping.js';
import { indicesPath, pathOf, sendExpecting, type Send } from '../requests.js';

const pageSize = 10_000;
/** How long the engine keeps the snapshot between two pages. */
const keepAlive = '2m';

interface Page {
  readonly _scroll_id?: string;
  readonly _shards: { readonly failed: number };
  readonly hits: { readonly hits: readonly { readonly _id: string }[] };
}

export async function scanIds(
  send: Send,
  index: string,
  onIds: (ids: readonly string[]) => void | Promise<void>,
): Promise<void> {
  const first = await sendExpecting(
    send,
    {
      method: 'POST',
      path: indicesPath([index], '_search'),
      query: { scroll: keepAlive },
      body: {
        size: pageSize,
        sort: ['_doc'],
        _source: false,
        query: { bool: { must_not: [{ exists: { field: tombstoneField } }] } },
      },
    },
    index,
  );
  let page = first.body as Page;
  try {
    while (page.hits.hits.length > 0) {
      if (page._shards.failed > 0)
        throw storeErrors.create('STORE_UNAVAILABLE', { place: index, got: 'a shard that does not answer' });
      await onIds(page.hits.hits.map((hit) => hit._id));
      page = (
        await sendExpecting(
          send,
          { method: 'POST', path: '/_search/scroll', body: { scroll: keepAlive, scroll_id: page._scroll_id } },
          index,
        )
      ).body as Page;
    }
  } finally {
    await send({ method: 'DELETE', path: '/_search/scroll', body: { scroll_id: page._scroll_id } }, index).catch(
      () => undefined,
    );
  }
}

/** Whether a search finds the document already: after the index's next refresh. */
export async function isSearchable(send: Send, index: string, id: string): Promise<boolean> {
  const body = { size: 0, query: { ids: { values: [id] } } };
  const reply = await sendExpecting(
    send,
    { method: 'POST', path: pathOf(index, '_search'), query: { filter_path: 'hits.total' }, body },
    index,
  );
  return (reply.body as { hits?: { total?: { value?: number } } }).hits?.total?.value === 1;
}
