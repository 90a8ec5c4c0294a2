/**
 * Power cuts under load, on the embedded engines: what was not synced is gone, or there in part. Everything that was
 * answered with 202 is there afterwards, nothing is there twice. `SLUICE_FAULT_ROUNDS` cuts, the seed is printed.
 */
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import t from 'tap';
import { freePorts } from '../engines.js';
import { createPowerCut, missingForPowerCut } from '../faults/causes/power-cut.js';
import { createReckoner } from '../faults/judging/reckoning.js';
import { writeRuleFile } from '../faults/world/rule-files.js';
import { startTraffic } from '../faults/world/traffic.js';
import { startProgram, testFolder, until, workedOff } from '../program.js';

const rounds = Number(process.env['SLUICE_FAULT_ROUNDS'] ?? 4);
const seed = Number(process.env['SLUICE_FAULT_SEED'] ?? Date.now() % 1_000_000);

function createRandom(start: number): () => number {
  let state = start;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31;
  };
}

const reason = missingForPowerCut();

await t.test(
  `${rounds} power cuts lose and double nothing that was accepted (seed ${seed})`,
  { skip: reason ?? false, timeout: 300_000 + rounds * 30_000 },
  async (t) => {
    const random = createRandom(seed);
    const folder = testFolder(t);
    const power = createPowerCut(join(folder, 'data'));
    t.teardown(() => power.close());
    const [tcp, http] = [await freePorts(1), await freePorts(1)];
    const rules = join(folder, 'rules');
    const settings = {
      rules: { folder: rules },
      processing: { rotation_check_ms: 200, batch_records: 500, wait_for_more_ms: 20 },
      receivers: [
        { type: 'gelf_tcp', host: '127.0.0.1', port: tcp },
        { type: 'gelf_http', host: '127.0.0.1', port: http },
      ],
      topics: { embedded: { segment_bytes: 1_048_576 } },
      store: { embedded: { checkpoint_bytes: 2_000_000 } },
    };
    writeRuleFile(rules, 0, { maxDocuments: 3_000 });
    let connections = 0;
    const target = (port: number) => () => ({ host: '127.0.0.1', port });
    const traffic = startTraffic({
      tcp: target(tcp),
      http: target(http),
      connections: 2,
      rate: 2_000,
      nextConnection: () => (connections += 1),
    });
    t.teardown(() => traffic.stop().then(() => undefined));
    const lost = { files: 0, bytes: 0, names: 0 };
    for (let round = 1; round <= rounds; round += 1) {
      power.begin();
      const program = await startProgram(t, { folder, settings, environment: power.environment });
      const before = traffic.acknowledged().size;
      await until(
        () => (traffic.acknowledged().size > before + 20 ? true : undefined),
        30_000,
        () => `nothing is acknowledged:\n${program.output().slice(-3000)}`,
      );
      if (random() < 0.5) writeRuleFile(rules, round, { maxDocuments: 3_000 });
      if (random() < 0.5) await program.control.request('POST', '/rotate', { index_set: 'sluice_default' });
      await wait(random() * 1_000);
      await program.end('SIGKILL');
      // Odd rounds: nothing that was not synced. Even ones: some of it, torn.
      const result = round % 2 === 1 ? power.cut() : power.cut(() => random() < 0.5);
      t.comment(`cut ${round}: ${result.bytes} bytes of ${result.files} files and ${result.names} names were lost`);
      for (const name of ['files', 'bytes', 'names'] as const) lost[name] += result[name];
    }
    const program = await startProgram(t, { folder, settings });
    await wait(500);
    const sent = await traffic.stop();
    await workedOff(program, 120_000);
    const result = await createReckoner(program.settingsFile).reckon(program, traffic.acknowledged());
    t.comment(
      `sent ${sent}, accepted ${result.accepted}, acknowledged over HTTP ${traffic.acknowledged().size}, stored ${result.stored}`,
    );
    t.ok(lost.bytes > 0, 'something was lost that was not accepted');
    t.ok(traffic.acknowledged().size > rounds * 20, 'there was load');
    t.same(
      {
        missing: result.missing.length,
        doubled: result.doubled.length,
        unaccepted: result.unaccepted.length,
        outOfOrder: result.outOfOrder,
      },
      { missing: 0, doubled: 0, unaccepted: 0, outOfOrder: 0 },
    );
    await program.end();
  },
);
