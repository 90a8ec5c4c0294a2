/**
 * What searches retain for those that come next, by condition and range of time: for a while and within a number of
 * bytes, the longest unused given back first.
 */
import type { Condition } from '../sql/condition-sql.js';

/** Nobody asks again after this long. */
const retainedMs = 60_000;
const maxItems = 128;
/**
 * A range of time that ends this long ago or later is taken to go on, so that "the last hour" is the same question a
 * moment later.
 */
const goesOnMs = 60_000;

export type Span = Pick<Condition, 'from' | 'to'>;

export class RetainedItem {
  readonly span: Span;
  bytes = 0;
  /** Searches that read it. */
  leases = 0;
  usedAt = 0;
  #filling: Promise<unknown> = Promise.resolve();

  constructor(span: Span) {
    this.span = span;
  }

  /** One look at the rows that came since after the other. */
  fill<Result>(work: () => Promise<Result>): Promise<Result> {
    const filled = this.#filling.then(work);
    this.#filling = filled.catch(() => undefined);
    return filled;
  }
}

export class RetainedItems<Item extends RetainedItem> {
  readonly #maxBytes: number;
  readonly #items = new Map<string, Item>();
  readonly #leaving = new Set<Item>();

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The item of this key, anew when it does not cover the range of time, or serves no more. */
  find(
    key: string,
    { from, to }: Span,
    create: (span: Span) => Item,
    serves: (item: Item) => boolean = () => true,
  ): Item {
    const end = to === undefined || to >= Date.now() - goesOnMs ? undefined : to;
    const known = this.#items.get(key);
    const covers =
      known !== undefined &&
      (known.span.from ?? -Infinity) <= (from ?? -Infinity) &&
      (known.span.to ?? Infinity) >= (end ?? Infinity) &&
      serves(known);
    if (known !== undefined && !covers) this.#leaving.add(known);
    const item = covers ? known : create({ from, to: end });
    item.usedAt = performance.now();
    this.#items.delete(key);
    this.#items.set(key, item);
    return item;
  }

  /**
   * Takes out what nobody has used for long, and the longest unused where there is too much. Returns what is out and
   * read by nobody any more, again and again until it is `gone`.
   */
  sweep(): Item[] {
    const oldest = performance.now() - retainedMs;
    let { bytes } = this;
    for (const [key, item] of this.#items) {
      if (item.leases > 0 || (this.#items.size <= maxItems && bytes <= this.#maxBytes && item.usedAt >= oldest))
        continue;
      this.#items.delete(key);
      this.#leaving.add(item);
      bytes -= item.bytes;
    }
    return [...this.#leaving].filter(({ leases }) => leases === 0);
  }

  gone(item: Item): void {
    this.#leaving.delete(item);
  }

  get bytes(): number {
    let bytes = 0;
    for (const item of this.#items.values()) bytes += item.bytes;
    for (const item of this.#leaving) bytes += item.bytes;
    return bytes;
  }
}
