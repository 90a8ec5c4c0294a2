/**
 * How many rows match a condition in each second or minute of their timestamps: what a count, a chart, and the place of
 * the newest hundred rows need.
 */
import type { Condition } from '../sql/condition-sql.js';

type Span = Pick<Condition, 'from' | 'to'>;

interface Counted {
  readonly width: number;
  readonly covered: number;
  readonly untimed: number;
  readonly starts: Float64Array;
  readonly before: Float64Array;
}

/** Counts the rows before `covered`. Immutable. */
export class TimeCounts {
  /** Milliseconds of one stretch. */
  readonly width: number;
  readonly covered: number;
  /** Rows without a timestamp. */
  readonly untimed: number;
  /** Beginnings of the stretches that have rows, ascending, in milliseconds. */
  readonly starts: Float64Array;
  /** Rows of all stretches before the one at this place; one longer than `starts`. */
  readonly #before: Float64Array;

  private constructor({ width, covered, untimed, starts, before }: Counted) {
    this.width = width;
    this.covered = covered;
    this.untimed = untimed;
    this.starts = starts;
    this.#before = before;
  }

  static empty(width: number): TimeCounts {
    return new TimeCounts({ width, covered: 0, untimed: 0, starts: new Float64Array(0), before: new Float64Array(1) });
  }

  /** With the rows up to `covered`. `added`: beginnings, ascending, and their rows. */
  with(covered: number, untimed: number, added: readonly (readonly [start: number, rows: number])[]): TimeCounts {
    if (added.length === 0)
      return new TimeCounts({
        width: this.width,
        covered,
        untimed: this.untimed + untimed,
        starts: this.starts,
        before: this.#before,
      });
    const starts = new Float64Array(this.starts.length + added.length);
    const before = new Float64Array(starts.length + 1);
    let [length, own, other] = [0, 0, 0];
    while (own < this.starts.length || other < added.length) {
      const [start, rows] = added[other] ?? [Infinity, 0];
      const known = this.starts[own] ?? Infinity;
      const least = Math.min(start, known);
      starts[length] = least;
      before[length + 1] =
        (before[length] ?? 0) + (known === least ? this.#rows(own) : 0) + (start === least ? rows : 0);
      length += 1;
      if (known === least) own += 1;
      if (start === least) other += 1;
    }
    return new TimeCounts({
      width: this.width,
      covered,
      untimed: this.untimed + untimed,
      starts: starts.slice(0, length),
      before: before.slice(0, length + 1),
    });
  }

  #rows(at: number): number {
    return (this.#before[at + 1] ?? 0) - (this.#before[at] ?? 0);
  }

  /** Place of the first stretch that begins at this time or later. */
  #placeOf(time: number): number {
    let [low, high] = [0, this.starts.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.starts[middle] ?? 0) < time) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Places of the stretches that lie in the span as a whole. */
  #whole({ from = -Infinity, to = Infinity }: Span): readonly [first: number, end: number] {
    const first = this.#placeOf(from);
    return [first, Math.max(first, this.#placeOf(Math.floor(to - this.width) + 1))];
  }

  /** Rows of the stretches that lie in the span as a whole, by their beginnings. */
  *wholes(span: Span): Generator<readonly [start: number, rows: number]> {
    const [first, end] = this.#whole(span);
    for (let at = first; at < end; at += 1) yield [this.starts[at] ?? 0, this.#rows(at)];
  }

  /** Parts of the span that cut a stretch with rows in two: these have to be counted in the rows themselves. */
  parts({ from, to }: Span): Required<Span>[] {
    const parts: { from: number; to: number }[] = [];
    const floor = (time: number): number => Math.floor(time / this.width) * this.width;
    const head = from === undefined || floor(from) === from ? undefined : floor(from);
    if (from !== undefined && head !== undefined) parts.push({ from, to: Math.min(head + this.width, to ?? Infinity) });
    const tail = to === undefined || floor(to) === to || floor(to) === head ? undefined : floor(to);
    if (to !== undefined && tail !== undefined && tail >= (from ?? -Infinity)) parts.push({ from: tail, to });
    return parts.filter(
      (part) => part.from < part.to && this.starts[this.#placeOf(floor(part.from))] === floor(part.from),
    );
  }

  /**
   * A span that ends with the given one (`desc`; `asc`: begins with it) and holds so many rows in its whole stretches,
   * or all of it. Rows of the same time as its end are in it.
   */
  nearest(span: Span, direction: 'asc' | 'desc', rows: number): Span {
    const [first, end] = this.#whole(span);
    if (direction === 'desc') {
      for (let at = end - 1; at >= first; at -= 1)
        if ((this.#before[end] ?? 0) - (this.#before[at] ?? 0) >= rows)
          return { ...span, from: Math.max(this.starts[at] ?? 0, span.from ?? -Infinity) };
    } else {
      for (let at = first; at < end; at += 1)
        if ((this.#before[at + 1] ?? 0) - (this.#before[first] ?? 0) >= rows)
          return { ...span, to: Math.min((this.starts[at] ?? 0) + this.width, span.to ?? Infinity) };
    }
    return span;
  }
}
