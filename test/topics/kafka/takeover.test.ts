import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import kafkajs from 'kafkajs';
import t, { type Test } from 'tap';
import { silentLog } from '../../../core/log.js';
import { Registry } from '../../../core/metrics.js';
import { createKafkaTopicLog } from '../../../topics/kafka.js';
import { createMemberNotes } from '../../../topics/kafka/consuming/member-notes.js';
import { thisProcess } from '../../../topics/owner.js';
import { kafkaBrokers, skipWithoutKafka } from '../../engines.js';
import { node } from '../../program.js';
import { consumeOptions, createCollector, createRecords, topicSpec, waitUntil } from '../collect.js';

const brokers = kafkaBrokers() ?? '';

function createFolder(test: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-members-'));
  test.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const notesIn = (folder: string): string[] => readdirSync(join(folder, 'members'));
const deadNote = (group: string, member: string): string =>
  JSON.stringify({ ...thisProcess(), started: '1', group, member });

async function createPlace(test: Test) {
  const suffix = randomBytes(6).toString('hex');
  const [topic, group, folder] = [`test-takeover-${suffix}`, `test-takeover-${suffix}`, createFolder(test)];
  const admin = new kafkajs.Kafka({ brokers: brokers.split(','), logLevel: kafkajs.logLevel.NOTHING }).admin();
  await admin.connect();
  test.teardown(async () => {
    await admin.deleteTopics({ topics: [topic] });
    await admin.deleteGroups([group]).catch(() => undefined);
    await admin.disconnect();
  });
  const log = createKafkaTopicLog({
    brokers: brokers.split(','),
    dataFolder: folder,
    registry: new Registry(),
    log: silentLog,
    heartbeatMs: 300,
  });
  test.teardown(() => log.stop(1_000));
  await log.start();
  await log.ensureTopics([topicSpec(topic, 2)]);
  await Promise.all([0, 1].map((partition) => log.append(topic, partition, createRecords(partition * 100, 10))));
  const members = async (): Promise<string[]> =>
    ((await admin.describeGroups([group])).groups[0]?.members ?? []).map(({ memberId }) => memberId);
  return { topic, group, folder, log, members };
}

/** Resolves when it is a member. */
async function startMember(
  test: Test,
  { folder, group, topic }: { readonly folder: string; readonly group: string; readonly topic: string },
) {
  const [command, ...leading] = node;
  const child = spawn(command, [...leading, join(import.meta.dirname, 'member.js'), brokers, folder, group, topic], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  test.teardown(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  return { child, ended, id: line.toString().trim() };
}

await t.test(
  'Kafka: a process that was killed and one on its data folder',
  { ...skipWithoutKafka(), timeout: 110_000 },
  async (suite) => {
    await suite.test(
      'the successor is given the partitions although the session of the dead member goes on for minutes',
      async (test) => {
        const place = await createPlace(test);
        const { child, ended, id } = await startMember(test, place);
        await waitUntil('the member to be seen', async () => (await place.members()).join() === id);
        child.kill('SIGKILL');
        await ended;
        const successor = createCollector();
        const consumer = await place.log.consume(consumeOptions(place.group, place.topic), successor);
        await waitUntil('all records', () => successor.keys.length === 20, 60_000);
        const [own = '', ...others] = await place.members();
        test.same(others, [], 'nobody else is a member');
        test.not(
          own,
          id,
          'it did not take the place of the dead member, which may have requests under way, but one of its own',
        );
        await waitUntil('only its own note', () => notesIn(place.folder).length === 1);
        test.match(
          JSON.parse(readFileSync(join(place.folder, 'members', notesIn(place.folder)[0] as string), 'utf8')),
          { group: place.group, member: own, pid: process.pid },
        );
        await consumer.stop(2_000);
        test.same(notesIn(place.folder), [], 'a member that has left needs none');
      },
    );

    await suite.test('a member that was let go wrongly can write nothing, and joins anew', async (test) => {
      const place = await createPlace(test);
      const first = createCollector();
      await place.log.consume(consumeOptions(place.group, place.topic), first);
      await waitUntil('its records', () => first.keys.length === 20);
      const [wronged = ''] = await place.members();
      writeFileSync(
        join(place.folder, 'members', `${notesIn(place.folder)[0]?.slice(0, 17)}wrong.json`),
        deadNote(place.group, wronged),
      );
      const second = createCollector();
      const before = first.batches.length;
      await place.log.consume(consumeOptions(place.group, place.topic), second);
      await waitUntil(
        'one partition each',
        async () =>
          second.assignments.length > 0 && first.assignments.length > 2 && (await place.members()).length === 2,
        60_000,
      );
      for (const batch of first.batches.slice(0, before))
        await test.rejects(batch.fence(), { code: 'TOPIC_PARTITION_REVOKED' });
      await Promise.all(
        [0, 1].map((partition) => place.log.append(place.topic, partition, createRecords(200 + partition * 100, 10))),
      );
      await waitUntil('20 more records', () => new Set([...first.keys, ...second.keys]).size === 40, 60_000);
    });
  },
);

await t.test('Notes of members', async (suite) => {
  await suite.test('only a process that has certainly ended is a predecessor', async (test) => {
    const folder = createFolder(test);
    const notes = createMemberNotes(folder, 'group');
    test.same(await notes.predecessors(), [], 'without a folder there is none');
    await notes.joinsAs('mine');
    await notes.joinsAs('mine');
    const prefix = notesIn(folder)[0]?.slice(0, 17) ?? '';
    const write = (name: string, content: string): void =>
      writeFileSync(join(folder, 'members', `${prefix}${name}.json`), content);
    write('dead', deadNote('group', 'dead'));
    write('living', JSON.stringify({ ...thisProcess(), group: 'group', member: 'living' }));
    write(
      'elsewhere',
      JSON.stringify({ ...thisProcess(), started: '1', world: 'another boot', group: 'group', member: 'elsewhere' }),
    );
    write('unknown', JSON.stringify({ ...thisProcess(), started: '1', world: '', group: 'group', member: 'unknown' }));
    write('torn', deadNote('group', 'torn').slice(0, -5));
    write('foreign', deadNote('other group', 'foreign'));
    await createMemberNotes(folder, 'other').joinsAs('of another group');
    test.same(await notes.predecessors(), ['dead']);
    await notes.forget(['dead', 'unknown']);
    test.same(await notes.predecessors(), []);
    await notes.left();
    test.equal(notesIn(folder).length, 6);
    utimesSync(join(folder, 'members', `${prefix}elsewhere.json`), 1_000, 1_000);
    await notes.predecessors();
    test.equal(notesIn(folder).length, 5, 'what nobody can ask about is not kept for ever');
  });
});
