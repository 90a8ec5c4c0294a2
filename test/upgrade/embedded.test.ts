/**
 * Data of other versions on the embedded engines: adopted, migrated, or refused with exit code 2 and a sentence.
 * Fixtures are made by hand from data of this version.
 */
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { DuckDBInstance } from '@duckdb/node-api';
import { ClassicLevel } from 'classic-level';
import t, { type Test } from 'tap';
import { packageVersion } from '../../core/process/package-root.js';
import { startProgram, testFolder, until, workedOff, type Program } from '../program.js';
import { createNewerProgram, newerVersion } from './newer-program.js';
import { sendNumbered, storedIds } from './sending.js';

const settings = { receivers: [{ type: 'gelf_http', host: '127.0.0.1', port: 0 }] };

/** A data folder with some messages, and a way to copy it. */
async function createData(t: Test): Promise<(test: Test) => string> {
  const program = await startProgram(t, { settings });
  await sendNumbered(program, 'first', 50);
  await workedOff(program);
  t.equal(await program.end(), 0);
  return (test) => {
    const folder = testFolder(test);
    cpSync(join(program.folder, 'data'), join(folder, 'data'), { recursive: true });
    return folder;
  };
}

async function changeState(folder: string, change: (state: ClassicLevel) => Promise<void>): Promise<void> {
  const state = new ClassicLevel(join(folder, 'data/state'));
  await change(state);
  await state.close();
}

const stamp = (format: number, minimum: number): object => ({
  format,
  minimum_reader: minimum,
  written_by: newerVersion,
});
const stateEntry = (value: object): string => JSON.stringify({ revision: '9.9', value });

async function changeIndices(folder: string, sql: string): Promise<void> {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  const indices = join(folder, 'data/indices');
  for (const file of readdirSync(indices).filter((name) => name.endsWith('.duckdb'))) {
    await connection.run(`ATTACH '${join(indices, file)}' AS changed`);
    await connection.run(sql);
    await connection.run('DETACH changed');
  }
  connection.closeSync();
  instance.closeSync();
}

const journalOf = (folder: string): string => join(folder, 'data/groups/sluice-processors.offsets');

function changeJournal(folder: string, change: (line: string) => string | undefined): void {
  const lines = readFileSync(journalOf(folder), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => change(line.slice(9)))
    .filter((line) => line !== undefined);
  writeFileSync(
    journalOf(folder),
    lines.map((json) => `${crc32(json).toString(16).padStart(8, '0')} ${json}\n`).join(''),
  );
}

/** The first frame of a topic as a newer program would have written it. */
function raiseFrame(folder: string): string {
  const partitions = join(folder, 'data/topics/sluice.logs');
  for (const partition of readdirSync(partitions).filter((name) => /^\d+$/.test(name))) {
    for (const name of readdirSync(join(partitions, partition))) {
      const file = join(partitions, partition, name);
      const bytes = readFileSync(file);
      if (bytes.length === 0) continue;
      const end = 8 + bytes.readUInt32LE(0);
      bytes[8] = 2;
      bytes.writeUInt32LE(crc32(bytes.subarray(8, end)), 4);
      writeFileSync(file, bytes);
      return file;
    }
  }
  throw new Error('no frame');
}

const newerFixtures: readonly {
  readonly name: string;
  readonly make: (folder: string) => unknown;
  readonly says: RegExp;
}[] = [
  {
    name: 'data folder',
    make: (folder) => writeFileSync(join(folder, 'data/version.json'), JSON.stringify(stamp(3, 2))),
    says: /version\.json: This was written by a newer version.*Got data folder of version 3, which needs a reader of version 2, written by Sluice 0\.2\.0-test\. Allowed: versions 0 to 1/,
  },
  {
    name: 'topic',
    make: (folder) => {
      const file = join(folder, 'data/topics/sluice.logs/topic.json');
      writeFileSync(file, JSON.stringify({ ...(JSON.parse(readFileSync(file, 'utf8')) as object), format_version: 2 }));
    },
    says: /topic\.json: The topic was written by a newer version of Sluice; start that version.*Got format 2/,
  },
  {
    name: 'records of a topic',
    make: raiseFrame,
    says: /\.segment at byte 0: This was written by a newer version.*records of an embedded topic of version 2/,
  },
  {
    name: 'committed offsets',
    make: (folder) => changeJournal(folder, (line) => (line.includes('"format"') ? '{"format":2}' : line)),
    says: /\.offsets: This was written by a newer.*embedded committed offsets of version 2/,
  },
  {
    name: 'metadata of a commit',
    make: (folder) => changeJournal(folder, (line) => line.replace('"metadata":"1 ', '"metadata":"2 ')),
    says: /metadata of the committed offset: This was written by a newer/,
  },
  {
    name: 'index that is written to',
    make: (folder) => changeIndices(folder, "UPDATE changed.meta SET value = 2 WHERE name = 'format'"),
    says: /\.duckdb: This was written by a newer.*embedded index of version 2/,
  },
  {
    name: 'state',
    make: (folder) => changeState(folder, (state) => state.put('meta:format', JSON.stringify(stamp(2, 2)))),
    says: /state \(meta:format\): This was written by a newer.*embedded state of version 2, written by Sluice 0\.2\.0-test/,
  },
  {
    name: 'delivery records',
    make: (folder) => changeState(folder, (state) => state.put('entry:protocol/version', stateEntry(stamp(2, 2)))),
    says: /protocol\/version: This was written by a newer.*delivery records.*of version 2/,
  },
  {
    name: 'single epoch',
    make: (folder) =>
      changeState(folder, async (state) => {
        const key = 'entry:epochs/0000000000';
        await state.put(key, ((await state.get(key)) as string).replace('"number":', '"format":2,"number":'));
      }),
    says: /state entry epochs\/0000000000: This was written by a newer/,
  },
];

/** What the program says when it ends, at its start or right after. */
async function refusal(t: Test, folder: string, commandLine?: string): Promise<string> {
  let program: Program;
  try {
    program = await startProgram(t, { folder, settings, ...(commandLine === undefined ? {} : { commandLine }) });
  } catch (error) {
    return (error as Error).message;
  }
  // Partitions are assigned while it says that it runs.
  const code = await until(
    () => program.child.exitCode ?? undefined,
    20_000,
    () => `it goes on:\n${program.output().slice(-3000)}`,
  );
  return `the program ended: ${code}\n${program.output()}`;
}

await t.test('data on the embedded engines', { timeout: 400_000 }, async (t) => {
  const copyData = await createData(t);

  await t.test(
    'data without versions is adopted: nothing is missing or doubled, and it has versions then',
    async (t) => {
      const folder = copyData(t);
      rmSync(join(folder, 'data/version.json'));
      changeJournal(folder, (line) => (line.includes('"format"') ? undefined : line));
      await changeState(folder, async (state) => {
        await state.del('meta:format');
        await state.del('entry:protocol/version');
      });
      await changeIndices(folder, "DELETE FROM changed.meta WHERE name = 'format'");
      const program = await startProgram(t, { folder, settings });
      await sendNumbered(program, 'second', 50);
      await workedOff(program);
      const ids = await storedIds(program);
      t.equal(ids.length, 100);
      t.equal(new Set(ids).size, 100);
      t.match(program.output(), /migrating the data folder/);
      await program.end();
      t.match(JSON.parse(readFileSync(join(folder, 'data/version.json'), 'utf8')), {
        format: 1,
        minimum_reader: 1,
        written_by: packageVersion,
      });
      t.match(readFileSync(journalOf(folder), 'utf8'), /^[0-9a-f]{8} \{"format":1\}\n/);
      await changeState(folder, async (state) => {
        t.match(JSON.parse((await state.get('meta:format')) as string), { format: 1, written_by: packageVersion });
        t.match(JSON.parse((await state.get('entry:protocol/version')) as string), {
          value: { format: 1, minimum_reader: 1 },
        });
      });
    },
  );

  for (const { name, make, says } of newerFixtures) {
    await t.test(`newer ${name}: refused with exit code 2 and a sentence, and left as it is`, async (t) => {
      const folder = copyData(t);
      await make(folder);
      const message = await refusal(t, folder);
      t.match(message, /^the program ended: 2\n/);
      t.match(message, says);
      t.match(message, new RegExp(`^sluice: .*`, 'm'), 'one line for people');
    });
  }

  await t.test(
    'a folder that a newer program changed in a way that this one understands is fine; one that it does not is refused',
    async (t) => {
      for (const minimumReader of [1, 2] as const) {
        const folder = copyData(t);
        const commandLine = createNewerProgram(t, {
          dataFolder: minimumReader,
          stateFolder: minimumReader,
          protocol: minimumReader,
        });
        const newer: Program = await startProgram(t, { folder, settings, commandLine });
        await sendNumbered(newer, 'newer', 10);
        await workedOff(newer);
        t.match(newer.output(), /"to":2/);
        await newer.end();
        t.match(JSON.parse(readFileSync(join(folder, 'data/version.json'), 'utf8')), {
          format: 2,
          minimum_reader: minimumReader,
          written_by: newerVersion,
        });
        if (minimumReader === 2) {
          t.match(
            await refusal(t, folder),
            /^the program ended: 2\n[^]*version\.json: This was written by a newer version.*written by Sluice 0\.2\.0-test/,
          );
          continue;
        }
        const older = await startProgram(t, { folder, settings });
        await sendNumbered(older, 'older again', 10);
        await workedOff(older);
        t.equal(new Set(await storedIds(older)).size, 70);
        await older.end();
        t.match(
          JSON.parse(readFileSync(join(folder, 'data/version.json'), 'utf8')),
          { format: 2 },
          'the stamp is never lowered',
        );
      }
    },
  );

  await t.test(
    'a backlog under a kept rule set that is not understood is held with a clear error, and worked off once it is',
    async (t) => {
      const folder = copyData(t);
      let kept = '';
      await changeState(folder, async (state) => {
        for await (const [key, value] of state.iterator({ gte: 'entry:rule-sets/', lt: 'entry:rule-sets0' })) {
          kept = value;
          await state.put(key, value.replace(/"value":\{/, '"value":{"format":2,'));
          await state.del(key);
          await state.put(
            key,
            JSON.stringify({
              revision: '9.8',
              value: { ...(JSON.parse(value) as { value: object }).value, format: 2 },
            }),
          );
        }
        // The running program has these rules from its files; an epoch of other rules decides the next records.
        const epoch = JSON.parse((await state.get('entry:epochs/0000000000')) as string) as {
          revision: string;
          value: { ruleSetVersion: string };
        };
        const version = epoch.value.ruleSetVersion;
        await state.put(
          'entry:rule-sets/abcdefabcdef',
          JSON.stringify({
            revision: '9.7',
            value: {
              files: [
                { name: 'future.yaml', text: 'rules: [{id: a, when: {always: true}, then: [{teleport: {to: mars}}]}]' },
              ],
            },
          }),
        );
        await state.put(
          'entry:epochs/0000000000',
          JSON.stringify({ ...epoch, value: { ...epoch.value, ruleSetVersion: 'abcdefabcdef' } }),
        );
        t.not(version, 'abcdefabcdef');
      });
      t.not(kept, '');
      // Its offsets are forgotten, so that the old epoch decides the first records again.
      rmSync(join(folder, 'data/groups'), { recursive: true });
      await changeIndices(folder, 'DELETE FROM changed.markers');
      await changeIndices(folder, 'DELETE FROM changed.documents');
      const program = await startProgram(t, { folder, settings });
      await until(
        () =>
          /PIPELINE_RULES_NOT_UNDERSTOOD|does not understand; they are held/.test(program.output()) ? true : undefined,
        20_000,
        () => program.output(),
      );
      t.match(program.output(), /rule set abcdefabcdef/);
      t.ok((await program.status()).lag > 0, 'the messages are held');
      t.equal(program.child.exitCode, null, 'the program goes on');
      await sendNumbered(program, 'still accepted', 5);
      await program.end('SIGKILL');
      await changeState(folder, async (state) => {
        const source = (JSON.parse(kept) as { value: object }).value;
        const old = JSON.parse((await state.get('entry:epochs/0000000000')) as string) as {
          value: { ruleSetVersion: string };
        };
        for await (const [key] of state.iterator({ gte: 'entry:rule-sets/', lt: 'entry:rule-sets0' })) {
          if (key.endsWith('abcdefabcdef')) continue;
          await state.put(
            'entry:epochs/0000000000',
            JSON.stringify({ ...old, value: { ...old.value, ruleSetVersion: key.slice('entry:rule-sets/'.length) } }),
          );
          await state.put(key, JSON.stringify({ revision: '9.6', value: source }));
        }
      });
      const again = await startProgram(t, { folder, settings });
      await workedOff(again);
      t.equal(new Set(await storedIds(again)).size, 55);
    },
  );
});
