/** A writer is killed in the middle of its appends, again and again. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { createRecords, readAll } from './collect.js';
import { createFolder, createLog, startLog } from './embedded-folder.js';

const writer = fileURLToPath(new URL('./crash-writer.js', import.meta.url));
const rounds = 10;

/** Runs the writer until it has acknowledged so many appends, kills it, and returns the acknowledged end of each partition. */
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
      test.ok(found.length >= end, `round ${round}, partition ${partition}: ${found.length} found, ${end} acknowledged`);
      test.ok(found.every((record, index) => record.offset === index && record.key === keys[index]), 'without holes, in order');
    }
  }
  const log = await startLog(test, folder);
  test.ok((await log.partitions('logs')).every(({ logEnd }) => logEnd > 0));
});
