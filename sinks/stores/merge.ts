/** Several ordered sequences as one. */

/** A sequence page by page: undefined after the last one. */
export type NextPage<Item> = () => Promise<readonly Item[] | undefined>;

/** Yields batches of at most `size()` in order. One page of each sequence is held. */
export async function* mergeOrdered<Item>(sources: readonly NextPage<Item>[], compare: (left: Item, right: Item) => number, size: () => number): AsyncGenerator<readonly Item[]> {
  const heads: { page: readonly Item[]; at: number; readonly next: NextPage<Item> }[] = [];
  for (const next of sources) {
    const page = await next();
    if (page !== undefined && page.length > 0) heads.push({ page, at: 0, next });
  }
  let batch: Item[] = [];
  while (heads.length > 0) {
    const first = heads.reduce((best, head) => (compare(head.page[head.at] as Item, best.page[best.at] as Item) < 0 ? head : best));
    batch.push(first.page[first.at] as Item);
    first.at += 1;
    if (batch.length >= size()) {
      yield batch;
      batch = [];
    }
    if (first.at < first.page.length) continue;
    first.page = await first.next() ?? [];
    first.at = 0;
    if (first.page.length === 0) heads.splice(heads.indexOf(first), 1);
  }
  if (batch.length > 0) yield batch;
}
