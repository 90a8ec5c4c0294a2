/** Rotation on request tells an index set that is not there from one that somebody else is rotating. */
import t from 'tap';
import { indexSetRoutes } from '../../api/control/index-sets.js';
import type { Operations } from '../../api/contract.js';

t.test('what rotation on request answers', async (t) => {
  const outcomes = new Map([
    ['there', 'rotated'],
    ['busy', 'overtaken'],
  ]);
  const indexRequests = { rotate: async (indexSet: string) => outcomes.get(indexSet) ?? 'absent' };
  const operations = (): Operations => ({ indexRequests }) as unknown as Operations;
  const rotate = indexSetRoutes({ operations, processing: () => undefined })['POST /rotate'];
  const context = { signal: AbortSignal.timeout(10_000), line: async () => undefined };
  t.same(await rotate?.({ index_set: 'there' }, context), { rotated: true });
  t.same(await rotate?.({ index_set: 'busy' }, context), { rotated: false });
  t.same(await rotate?.({ index_set: 'nope' }, context), { rotated: false, unknown: true });
});
