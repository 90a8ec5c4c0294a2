/**
 * kill -9 of the whole program at random moments, under load, with rotation and rule changes in between: nothing that was
 * accepted is missing or doubled. `SLUICE_FAULT_ROUNDS=20` runs the long form; the seed is printed.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import t from 'tap';
import { startProgram, testFolder, workedOff, type Program } from '../program.js';
import { reckon } from './reckoning.js';
import { startTraffic } from './traffic.js';

const rounds = Number(process.env['SLUICE_FAULT_ROUNDS'] ?? 4);
const seed = Number(process.env['SLUICE_FAULT_SEED'] ?? Date.now() % 1_000_000);

function createRandom(start: number): () => number {
  let state = start;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31;
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** A rule file whose every change makes a new epoch; its index set rotates every 3,000 documents. */
function writeRules(folder: string, version: number): void {
  mkdirSync(join(folder, 'sluice.d'), { recursive: true });
  writeFileSync(join(folder, 'sluice.d', '50-test.yaml'), `
index_sets:
  - { id: sluice_default, title: Default, rotation: { type: count, max_documents: 3000 }, retention: { type: none } }
rules:
  - id: version
    when: { always: true }
    then: [{ set: { field: rules_version, value: ${version} } }]
`);
}

t.test(`kill -9 at ${rounds} random moments loses and doubles nothing (seed ${seed})`, { timeout: 60_000 + rounds * 20_000 }, async (t) => {
  const random = createRandom(seed);
  const folder = testFolder(t);
  const port = await freePort();
  const settings = { receivers: [{ type: 'gelf_tcp', host: '127.0.0.1', port }], processing: { rotation_check_ms: 200, batch_records: 500, wait_for_more_ms: 20 } };
  writeRules(folder, 0);
  let program: Program = await startProgram(t, { folder, settings });
  const traffic = startTraffic({ port: () => port, connections: 3, rate: 4_000 });
  for (let round = 1; round <= rounds; round += 1) {
    await wait(400 + random() * 1_500);
    if (random() < 0.7) writeRules(folder, round);
    if (random() < 0.3) await program.control.request('POST', '/rotate', { index_set: 'sluice_default' });
    await wait(random() * 300);
    await program.end('SIGKILL');
    program = await startProgram(t, { folder, settings });
  }
  await wait(500);
  const sent = await traffic.stop();
  await workedOff(program);
  const result = await reckon(program);
  const { epoch } = await program.status();
  t.comment(`sent ${sent}, accepted ${result.accepted}, stored ${result.stored}, epochs ${epoch.number + 1}, newest index ${epoch.indices['sluice_default']}`);
  t.ok(result.accepted > rounds * 500, 'there was load');
  t.ok(epoch.number >= 3, 'indices were rotated and rules changed');
  t.same({ missing: result.missing, doubled: result.doubled, outOfOrder: result.outOfOrder }, { missing: [], doubled: [], outOfOrder: 0 });
});
