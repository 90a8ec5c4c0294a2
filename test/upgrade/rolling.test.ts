/**
 * A rolling restart from this program to a newer one, under load, on Kafka and OpenSearch: the receiver and two
 * processors one by one, then newer rules while there is a backlog. Ids are compared with an independent reader of the
 * topic.
 */
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import t from 'tap';
import { freePorts, skipWithoutKafka, skipWithoutOpenSearch } from '../engines.js';
import { createReckoner } from '../faults/judging/reckoning.js';
import { writeRuleFile } from '../faults/world/rule-files.js';
import { startTraffic } from '../faults/world/traffic.js';
import { startProgram, testFolder, until, workedOff, type Program } from '../program.js';
import { createNewerProgram, newerVersion } from './newer-program.js';
import { createSharedEngines } from './shared-engines.js';

const skip = skipWithoutKafka().skip === false ? skipWithoutOpenSearch() : skipWithoutKafka();
const rate = Number(process.env['SLUICE_UPGRADE_RATE'] ?? 600);

await t.test(
  'restarting the roles one by one with a newer program loses, doubles and disorders nothing',
  { ...skip, timeout: 400_000 },
  async (t) => {
    const engines = createSharedEngines(t);
    const rules = join(testFolder(t), 'rules');
    const [tcp, http] = [await freePorts(1), await freePorts(1)];
    const settings = {
      ...engines.settings,
      rules: { folder: rules },
      receivers: [
        { type: 'gelf_tcp', host: '127.0.0.1', port: tcp },
        { type: 'gelf_http', host: '127.0.0.1', port: http },
      ],
    };
    // What two neighbouring releases differ in: programs of the older one may go on beside the newer one.
    const newer = createNewerProgram(t, { dataFolder: 1, stateIndex: 1, protocol: 1, searchIndex: 1 });
    const folders = { receiver: testFolder(t), first: testFolder(t), second: testFolder(t) };
    const start = (name: keyof typeof folders, commandLine?: string): Promise<Program> =>
      startProgram(t, {
        folder: folders[name],
        settings,
        role: name === 'receiver' ? 'receiver' : 'processor',
        ...(commandLine === undefined ? {} : { commandLine }),
      });
    const restart = async (program: Program, name: keyof typeof folders): Promise<Program> => {
      t.equal(await program.end('SIGTERM'), 0, `the older ${name} stops`);
      const fresh = await start(name, newer);
      t.match(fresh.output(), new RegExp(`Sluice ${newerVersion} is running`));
      return fresh;
    };

    writeRuleFile(rules, 1, { maxDocuments: 4_000, refreshMs: 500 });
    let first = await start('first');
    let [second, receiver] = await Promise.all([start('second'), start('receiver')]);
    let connections = 0;
    const traffic = startTraffic({
      tcp: () => ({ host: '127.0.0.1', port: tcp }),
      http: () => ({ host: '127.0.0.1', port: http }),
      connections: 3,
      rate,
      nextConnection: () => (connections += 1),
    });
    t.teardown(() => traffic.stop());
    await wait(1_000);
    first = await restart(first, 'first');
    t.match(
      await engines.entry('protocol/version'),
      { format: 2, minimum_reader: 1, written_by: newerVersion },
      'the first newer program raises the stamp',
    );
    await first.control.request('POST', '/rotate', { index_set: 'sluice_default' });
    await wait(500);
    t.equal(second.child.exitCode, null, 'the older program goes on, into the index that the newer one made');
    receiver = await restart(receiver, 'receiver');
    second = await restart(second, 'second');

    // A backlog that older rules have decided in part: stopped, fed, started with newer rules.
    await Promise.all([first.end('SIGTERM'), second.end('SIGTERM')]);
    const before = traffic.sent();
    await until(
      () => (traffic.sent() > before + rate ? true : undefined),
      30_000,
      () => 'no backlog came about',
    );
    writeRuleFile(rules, 2, { maxDocuments: 4_000, refreshMs: 500, moved: true });
    [first, second] = await Promise.all([start('first', newer), start('second', newer)]);
    await wait(500);
    const sent = await traffic.stop();
    await workedOff(first, 120_000);
    await first.control.request('POST', '/refresh', {});
    const result = await createReckoner(first.settingsFile)
      .reckon(first, traffic.acknowledged())
      .catch((error: unknown) => {
        t.comment(first.output().slice(-3_000));
        throw error;
      });
    t.comment(
      `sent ${sent}, accepted ${result.accepted}, resent ${result.resent}, stored ${result.stored}, dead letters ${result.deadLetters}`,
    );
    t.ok(result.accepted > 2 * rate, 'there was load');
    t.same(
      {
        missing: result.missing.length,
        doubled: result.doubled.length,
        outOfOrder: result.outOfOrder,
        unaccepted: result.unaccepted.length,
        deadLetters: result.deadLetters,
      },
      { missing: 0, doubled: 0, outOfOrder: 0, unaccepted: 0, deadLetters: 0 },
    );
    t.equal(result.stored, result.accepted);
    await Promise.all([receiver.end(), first.end(), second.end()]);
  },
);
