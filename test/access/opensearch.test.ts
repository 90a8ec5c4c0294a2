/** Two programs on one state in OpenSearch: what one changes, the other knows. */
import { randomBytes } from 'node:crypto';
import t, { type Test } from 'tap';
import { createOpenSearchClient } from '../../core/opensearch-client.js';
import { silentLog } from '../../core/log.js';
import type { StateStore } from '../../state/contract.js';
import { createOpenSearchState } from '../../state/opensearch.js';
import { openSearchNode, skipWithoutOpenSearch } from '../engines.js';
import { administrator, codeOf, createTestAccess, here, password, until } from './support.js';

const node = openSearchNode() ?? '';

async function createStates(test: Test): Promise<readonly [StateStore, StateStore]> {
  const index = `sluice-access-test-${randomBytes(5).toString('hex')}`;
  const client = createOpenSearchClient({ nodes: [node], requestTimeoutMs: 30_000 });
  test.teardown(async () => {
    await client.request({ method: 'DELETE', path: `/${index}` });
    await client.close();
  });
  const open = async (): Promise<StateStore> => {
    const state = createOpenSearchState({ nodes: [node], requestTimeoutMs: 30_000, index, log: silentLog });
    test.teardown(() => state.stop(1_000));
    await state.start();
    return state;
  };
  return [await open(), await open()];
}

await t.test('users, roles and sessions of two programs', skipWithoutOpenSearch(), async (test) => {
  const [first, second] = await createStates(test);
  const one = await createTestAccess(test, { state: first });
  const two = await createTestAccess(test, { state: second });
  await one.createRole(administrator, 'Team', '', ['streams:read:system-logs']);
  await one.createUser(administrator, 'Zoë', 'zoe-secret', { roles: ['Team'] });
  const { sessionId } = await one.openSession('zoë', 'zoe-secret', here);
  test.equal((await two.authenticate({ kind: 'session', sessionId }, here)).username, 'Zoë', 'at once');
  await until(async () =>
    (await two.authenticate({ kind: 'session', sessionId }, here)).scope.streams.includes('system-logs'),
  );
  await two.changeRole(administrator, 'team', { permissions: [] });
  await until(async () => (await one.authenticate({ kind: 'session', sessionId }, here)).scope.streams.length === 0);
  await two.setPassword(administrator, 'zoë', { password: 'next-secret', old: undefined, ...here });
  await until(async () => (await codeOf(one.authenticate({ kind: 'session', sessionId }, here))) === 'ACCESS_DENIED');
  await until(async () => (await codeOf(one.authenticate(password('zoë', 'next-secret'), here))) === 'none');
  test.equal(await codeOf(one.createUser(administrator, 'ZOË', 'other-secret', {})), 'ACCESS_NAME_TAKEN');
  const outcomes = await Promise.all(
    [one, two].map((access) => codeOf(access.createUser(administrator, 'same', 'same-secret', {}))),
  );
  test.same(outcomes.sort(), ['ACCESS_NAME_TAKEN', 'none'], 'one of two gets the name');
});
