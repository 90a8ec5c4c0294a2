import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { ParkedSet } from '../../../pipeline/parking/contract.js';
import { startProgram, testFolder, until, workedOff, type Program } from '../../program.js';

const settings = { processing: { park_after_ms: 500, retention_check_ms: 1_000 } };

async function send(program: Program, messages: number, logType: string): Promise<void> {
  const body = JSON.stringify(
    Array.from({ length: messages }, (_, number) => ({
      version: '1.1',
      host: 'h',
      short_message: `message ${number}`,
      _logType: logType,
    })),
  );
  const answer = await fetch(`http://127.0.0.1:${program.port('gelf-http')}/gelf`, { method: 'POST', body });
  if (answer.status !== 202) throw new Error(`${answer.status} ${await answer.text()}`);
}

async function parkedIn(program: Program, indexSet: string): Promise<ParkedSet | undefined> {
  const { index_sets: sets } = (await program.control.request('GET', '/parking')) as {
    index_sets: readonly ParkedSet[];
  };
  return sets.find((set) => set.index_set === indexSet);
}

async function idsIn(program: Program, indexSet: string): Promise<string[]> {
  const ids: string[] = [];
  await program.control.stream(
    '/scan-ids',
    { index_sets: [indexSet] },
    (line) => void ids.push(...(line as { ids: readonly string[] }).ids),
  );
  return ids;
}

t.test(
  'an index file that cannot be opened is parked; killed meanwhile, and drained when the file is good again',
  { timeout: 120_000 },
  async (t) => {
    const folder = testFolder(t);
    const first = await startProgram(t, { folder, settings });
    const index = (await first.status()).epoch.indices['sluice_access'] ?? '';
    await send(first, 20, 'access');
    await workedOff(first);
    await first.end('SIGTERM');
    const file = join(folder, 'data', 'indices', `${index}.duckdb`);
    const away = join(folder, 'away');
    renameSync(file, away);
    writeFileSync(file, 'not a database '.repeat(1_000));

    const second = await startProgram(t, { folder, settings });
    await send(second, 30, 'access');
    await send(second, 10, 'none');
    await workedOff(second);
    t.equal((await idsIn(second, 'sluice_default')).length, 10, 'the other set goes on');
    t.match(await parkedIn(second, 'sluice_access'), {
      state: 'blocked',
      index,
      code: 'STORE_INDEX_BLOCKED',
      messages: 30,
    });
    await second.end('SIGKILL');
    rmSync(file);
    renameSync(away, file);

    const third = await startProgram(t, { folder, settings });
    await send(third, 5, 'access');
    await workedOff(third);
    await until(
      async () => ((await parkedIn(third, 'sluice_access'))?.state === 'drained' ? true : undefined),
      30_000,
      () => third.output(),
    );
    const ids = await idsIn(third, 'sluice_access');
    t.equal(ids.length, 55);
    t.equal(new Set(ids).size, 55, 'nothing missing, nothing doubled');
  },
);
