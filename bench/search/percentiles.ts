/**
 * How far the percentiles of a store are from the exact ones, in ranks: the exact ones come from an export of the
 * values.
 */
import { percentile } from './figures.js';
import type { World } from './world.js';

const percents = [1, 5, 25, 50, 75, 90, 95, 99, 99.9];

export async function benchPercentiles({ api }: World, most: number, say: (line: string) => void): Promise<void> {
  const query = { query_string: '_exists_:took_ms' };
  const everything = { type: 'relative', range: 0 };
  const pieces: Buffer[] = [];
  await api.stream(
    'Admin',
    {
      method: 'POST',
      path: '/api/views/search/messages',
      body: { ...query, timerange: everything, fields_in_order: ['took_ms'], limit: most },
    },
    (piece) => pieces.push(piece),
  );
  const values = Float64Array.from(
    Buffer.concat(pieces)
      .toString()
      .split('\n')
      .slice(1)
      .flatMap((line) => (line === '' ? [] : [Number(line.slice(1, -1))])),
  ).sort();
  const series = percents.map((percent) => ({
    type: 'percentile',
    field: 'took_ms',
    percentile: percent,
    id: `p${percent}`,
  }));
  const began = performance.now();
  const { text } = await api.call('Admin', 'POST', '/api/views/search/sync', {
    queries: [
      {
        id: 'query',
        query: query,
        timerange: everything,
        search_types: [{ id: 'figures', type: 'pivot', series, rollup: true }],
      },
    ],
  });
  const ms = performance.now() - began;
  const answer = JSON.parse(text) as {
    results: {
      query: { search_types: { figures: { total: number; rows: { values: { key: string[]; value: number }[] }[] } } };
    };
  };
  const { total, rows } = answer.results.query.search_types.figures;
  if (total !== values.length)
    return say(`  left out: ${total} messages have the field, ${values.length} were exported`);
  const told = new Map(rows.flatMap((row) => row.values.map(({ key, value }) => [key.at(-1) ?? '', value] as const)));
  let worst = 0;
  for (const percent of percents) {
    const value = told.get(`p${percent}`) ?? NaN;
    const off = rankError(values, value, percent);
    worst = Math.max(worst, off);
    say(
      `  ${String(percent).padStart(5)} %  exact ${percentile(values as unknown as readonly number[], percent)}, told ${value.toFixed(3)}, rank ${(off * 100).toFixed(4)} % off`,
    );
  }
  say(
    `  ${values.length} values, ${percents.length} percentiles in ${ms.toFixed(0)} ms, at most ${(worst * 100).toFixed(4)} % of the ranks off`,
  );
}

/** Share of all values between the wanted rank and the nearest rank that has this value. */
function rankError(values: Float64Array, value: number, percent: number): number {
  const wanted = Math.ceil((values.length * percent) / 100) - 1;
  const first = lowerBound(values, value);
  const last = Math.max(first, lowerBound(values, value, true) - 1);
  return (wanted < first ? first - wanted : wanted > last ? wanted - last : 0) / values.length;
}

function lowerBound(values: Float64Array, value: number, beyond = false): number {
  let [low, high] = [0, values.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const found = values[middle] as number;
    if (found < value || (beyond && found === value)) low = middle + 1;
    else high = middle;
  }
  return low;
}
