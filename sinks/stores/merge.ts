/** Several ordered sequences as one. */

export interface MergedPage<Item> {
  readonly length: number;
  at(place: number): Item | undefined;
}

/** A sequence page by page: undefined after the last one. */
export type NextPage<Item> = () => Promise<MergedPage<Item> | undefined>;

/** Yields batches of at most `size()` in order. One page of each sequence is held. */
export async function* mergeOrdered<Item>(
  sources: readonly NextPage<Item>[],
  compare: (left: Item, right: Item) => number,
  size: () => number,
): AsyncGenerator<readonly Item[]> {
  const heads: { page: MergedPage<Item>; at: number; item: Item; readonly next: NextPage<Item> }[] = [];
  for (const next of sources) {
    const page = await next();
    if (page !== undefined && page.length > 0) heads.push({ page, at: 0, item: page.at(0) as Item, next });
  }
  let batch: Item[] = [];
  while (heads.length > 0) {
    const first = heads.reduce((best, head) => (compare(head.item, best.item) < 0 ? head : best));
    batch.push(first.item);
    first.at += 1;
    if (batch.length >= size()) {
      yield batch;
      batch = [];
    }
    if (first.at >= first.page.length) {
      first.page = (await first.next()) ?? [];
      first.at = 0;
    }
    if (first.page.length === 0) heads.splice(heads.indexOf(first), 1);
    else first.item = first.page.at(first.at) as Item;
  }
  if (batch.length > 0) yield batch;
}
