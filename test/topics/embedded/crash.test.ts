/** A writer is killed in the middle of its appends, again and again. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { createRecords, readAll } from '../collect.js';
import { createFolder, createLog, startLog } from './folder.js';

const writer = fileURLToPath(new URL('./crash-writer.js', import.meta.url));
const rounds = 10;

/**
 * Runs the writer until it has acknowledged so many appends, kills it, and returns the acknowledged end of each
 * partition.
 */
async function writeAndKill(folder: string, acknowledgements: number): Promise<Map<number, number>> {
  const child = spawn(process.execPath, [writer, folder], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ends = new Map<number, number>();
  let [text, seen] = ['', 0];
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = (text + chunk).split('\n');
    text = lines.pop() ?? '';
    for (const line of lines) {
      const [partition = 0, end = 0] = line.split(' ').map(Number);
      ends.set(partition, end);
      seen += 1;
    }
    if (seen >= acknowledgements) child.kill('SIGKILL');
  });
  await once(child, 'close');
  return ends;
}

t.test(`a writer killed ${rounds} times loses nothing that it acknowledged`, async (test) => {
  const folder = await createFolder(test);
  for (let round = 0; round < rounds; round += 1) {
    const acknowledged = await writeAndKill(folder, 5 + Math.floor(Math.random() * 150));
    test.ok(acknowledged.size > 0, 'the writer wrote');
    const beside = createLog(test, folder, { readOnly: true });
    for (const [partition, end] of acknowledged) {
      const found = await readAll(beside, 'logs', partition);
      const keys = createRecords(0, found.length).map((record) => record.key);
      test.ok(
        found.length >= end,
        `round ${round}, partition ${partition}: ${found.length} found, ${end} acknowledged`,
      );
      test.ok(
        found.every((record, index) => record.offset === index && record.key === keys[index]),
        'without holes, in order',
      );
    }
  }
  const log = await startLog(test, folder);
  test.ok((await log.partitions('logs')).every(({ logEnd }) => logEnd > 0));
});

t.test('another process reads whole records in order while this one writes and removes at full speed', async (test) => {
  const folder = await createFolder(test);
  const child = spawn(process.execPath, [writer, folder, '2000000'], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  child.stdout.resume();
  const beside = createLog(test, folder, { readOnly: true });
  const end = Date.now() + 3000;
  let [reads, records, removals] = [0, 0, 0];
  while (Date.now() < end) {
    const found = await readAll(beside, 'logs', 0);
    const gaps = found.filter((record, index) => index > 0 && record.offset !== (found[index - 1]?.offset ?? 0) + 1);
    // Only what retention removed during the read may be missing, and then the read went on behind it.
    removals += gaps.length;
    if (found.some((record) => record.key !== `run-0-${record.offset}`))
      test.fail('a record with another offset than its own');
    reads += 1;
    records += found.length;
    const [state] = await beside.partitions('logs');
    test.ok((state?.logEnd ?? 0) > (found.at(-1)?.offset ?? -1));
  }
  child.kill('SIGKILL');
  await once(child, 'close');
  test.ok(reads > 3 && records > 1000, `${reads} reads of ${records} records, ${removals} overtaken by retention`);
  test.ok(((await beside.partitions('logs'))[0]?.earliest ?? 0) > 0, 'retention removed');
});

t.test(
  'one that reads on from where it ended, look after look, misses nothing of a writer that is killed and starts again',
  async (test) => {
    const folder = await createFolder(test);
    const beside = createLog(test, folder, { readOnly: true });
    const next = new Map<number, number>();
    for (let round = 0; round < rounds; round += 1) {
      const acknowledged = await writeAndKill(folder, 20 + Math.floor(Math.random() * 100));
      for (const [partition, end] of acknowledged) {
        for (let look = 0; look < 2; look += 1) {
          await beside.read('logs', partition, next.get(partition) ?? 0, (records) => {
            for (const { offset, key } of records) {
              if (offset !== (next.get(partition) ?? 0) || key !== `run-0-${offset}`)
                test.fail(`partition ${partition}: ${key} at ${offset}, wanted ${next.get(partition) ?? 0}`);
              next.set(partition, offset + 1);
            }
          });
        }
        test.ok(
          (next.get(partition) ?? 0) >= end,
          `round ${round}, partition ${partition}: read to ${next.get(partition)}, ${end} acknowledged`,
        );
      }
    }
  },
);
