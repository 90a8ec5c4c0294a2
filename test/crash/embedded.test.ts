/**
 * The two failures of simpler embedded protocols (E1, E2): killed between the store's commit and the offset's, with
 * rotation and other rules at the next start; and topics whose files were deleted and made again while the store holds
 * their documents.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { startProgram, testFolder, until, workedOff, type Program } from '../program.js';
import { sendNumbered, storedIds } from '../upgrade/sending.js';

const settings = {
  receivers: [{ type: 'gelf_http', host: '127.0.0.1', port: 0 }],
  processing: { rotation_check_ms: 100, batch_records: 40 },
  topics: { partitions: 2 },
};

/** Every change makes a new epoch; few documents fill an index. */
function writeRules(folder: string, version: number, maxDocuments: number): void {
  mkdirSync(join(folder, 'sluice.d'), { recursive: true });
  writeFileSync(
    join(folder, 'sluice.d', '50-test.yaml'),
    `
index_sets:
  - { id: sluice_default, title: Default, rotation: { type: count, max_documents: ${maxDocuments} }, retention: { type: none } }
rules:
  - id: version
    when: { always: true }
    then: [{ set: { field: rules_version, value: ${version} } }]
`,
  );
}

const start = (t: Test, folder: string): Promise<Program> =>
  startProgram(t, { folder, settings: { ...settings, rules: { folder: join(folder, 'sluice.d') } } });

async function send(program: Program, prefix: string, requests: number, each: number): Promise<number> {
  for (let request = 0; request < requests; request += 1) await sendNumbered(program, `${prefix} ${request}`, each);
  return requests * each;
}

/** Every id once, and as many as were acknowledged. */
async function assertAllOnce(t: Test, program: Program, acknowledged: number, when: string): Promise<void> {
  await workedOff(program);
  const ids = await storedIds(program);
  t.equal(new Set(ids).size, acknowledged, `${when}: none is missing`);
  t.equal(ids.length, acknowledged, `${when}: none is doubled`);
}

const journalOf = (folder: string): string => join(folder, 'data/groups/sluice-processors.offsets');

await t.test(
  'killed between the commit of the store and that of the offsets, with rotation and newer rules at the next start, nothing is doubled or missing (E1)',
  { timeout: 240_000 },
  async (t) => {
    const folder = testFolder(t);
    writeRules(folder, 0, 100_000);
    let program = await start(t, folder);
    let acknowledged = await send(program, 'begin', 4, 25);
    await workedOff(program);
    // How far the offsets are behind the store: some batches, and all of them.
    for (const [round, kept] of (['some', 'none', 'some'] as const).entries()) {
      const journal = readFileSync(journalOf(folder));
      acknowledged += await send(program, `round ${round}`, 8, 25);
      await workedOff(program);
      t.equal((await storedIds(program)).length, acknowledged);
      await program.end('SIGKILL');
      if (kept === 'some') writeFileSync(journalOf(folder), journal);
      else rmSync(journalOf(folder));
      writeRules(folder, round + 1, 30 + round);
      program = await start(t, folder);
      await program.control.request('POST', '/rotate', { index_set: 'sluice_default' });
      acknowledged += await send(program, `after ${round}`, 4, 25);
      await assertAllOnce(t, program, acknowledged, `round ${round}, ${kept} of the offsets kept`);
      const { epoch } = await program.status();
      t.ok(epoch.number >= 2 * (round + 1), `rotated: ${epoch.indices['sluice_default']}`);
    }
    await program.end();
  },
);

await t.test(
  'killed again and again while it starts after such a kill, each time with other rules, nothing is doubled or missing (E1)',
  { timeout: 240_000 },
  async (t) => {
    const folder = testFolder(t);
    writeRules(folder, 0, 50);
    let program = await start(t, folder);
    let acknowledged = await send(program, 'begin', 2, 25);
    await workedOff(program);
    const journal = readFileSync(journalOf(folder));
    acknowledged += await send(program, 'stored', 6, 25);
    await workedOff(program);
    await program.end('SIGKILL');
    for (let round = 1; round <= 5; round += 1) {
      writeFileSync(journalOf(folder), journal);
      writeRules(folder, round, 40 + round);
      program = await start(t, folder);
      await program.end('SIGKILL');
    }
    writeFileSync(journalOf(folder), journal);
    program = await start(t, folder);
    acknowledged += await send(program, 'after', 2, 25);
    await assertAllOnce(t, program, acknowledged, 'after five starts cut short');
    await program.end();
  },
);

await t.test(
  'a topic that was deleted and made again: its records are new ones, none is skipped, and the documents of the former one stay (E2)',
  { timeout: 240_000 },
  async (t) => {
    const folder = testFolder(t);
    writeRules(folder, 0, 60);
    let program = await start(t, folder);
    let acknowledged = await send(program, 'first life', 6, 25);
    await assertAllOnce(t, program, acknowledged, 'before');
    for (const [round, removed] of (['topics/sluice.logs', 'topics', 'groups and topics'] as const).entries()) {
      await program.end(round === 0 ? 'SIGTERM' : 'SIGKILL');
      for (const name of removed.split(' and ')) rmSync(join(folder, 'data', name), { recursive: true });
      if (round === 1) writeRules(folder, 1, 60);
      program = await start(t, folder);
      t.ok(existsSync(join(folder, 'data/topics/sluice.logs/topic.json')), 'it is made again');
      // Fewer, as many and more records than the former topic had: its markers lie above, at and below them.
      acknowledged += await send(program, `life ${round + 2}`, 2 + 4 * round, 25);
      await assertAllOnce(t, program, acknowledged, `${removed} made again`);
      const { lag } = await program.status();
      t.equal(lag, 0);
    }
    await program.end();
  },
);

await t.test(
  'a topic made again and killed at once between the commits: its own records are delivered once (E1 and E2)',
  { timeout: 240_000 },
  async (t) => {
    const folder = testFolder(t);
    writeRules(folder, 0, 45);
    let program = await start(t, folder);
    let acknowledged = await send(program, 'first life', 4, 25);
    await workedOff(program);
    await program.end('SIGKILL');
    rmSync(join(folder, 'data/topics'), { recursive: true });
    program = await start(t, folder);
    const before = existsSync(journalOf(folder)) ? readFileSync(journalOf(folder)) : undefined;
    acknowledged += await send(program, 'second life', 4, 25);
    await workedOff(program);
    await program.end('SIGKILL');
    // The offsets of the first life, whose generation is another one.
    if (before !== undefined) writeFileSync(journalOf(folder), before);
    writeRules(folder, 1, 46);
    program = await start(t, folder);
    await until(
      () => (/is running/.test(program.output()) ? true : undefined),
      10_000,
      () => program.output(),
    );
    acknowledged += await send(program, 'and on', 2, 25);
    await assertAllOnce(t, program, acknowledged, 'after both');
    await program.end();
  },
);
