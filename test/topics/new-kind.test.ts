/** A new kind of topic logs is one definition and one line: `elsewhere` is the definition, `kinds` has the line. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { Type } from 'typebox';
import { problemLines } from '../../config/problem.js';
import { composeKinds, registeredKinds } from '../../program/kinds.js';
import { text } from '../../schemas/config/common.js';
import { defineTopicLog } from '../../topics/define.js';
import { createEmbeddedTopicLog } from '../../topics/embedded.js';
import { topicLogKinds } from '../../topics/registry.js';
import { startRunning } from '../api/http/routes/running.js';
import { testFolder } from '../program.js';

const elsewhere = defineTopicLog({
  kind: 'elsewhere',
  title: 'another folder',
  settings: Type.Object(
    { mount: text('Folder that the disk is mounted at.', ''), password: text('Password of the disk.', '') },
    { additionalProperties: false, default: {}, description: 'Segment files on another disk.' },
  ),
  shared: false,
  problems: ({ mount }) =>
    mount === '' ? [{ path: ['mount'], got: 'nothing, with topics.kind: elsewhere', allowed: 'a folder' }] : [],
  location: ({ mount }) => `${mount}/topics`,
  create: ({ mount }, parts) =>
    createEmbeddedTopicLog({ ...parts, folder: mount, segmentBytes: 2 ** 20, reserveBytes: 1 }),
});
const kinds = composeKinds({ ...registeredKinds, topicLogs: [...topicLogKinds, elsewhere] });

t.test('its settings are taken and told where they stand', async (t) => {
  const folder = testFolder(t);
  const read = (yaml: string) => {
    writeFileSync(join(folder, 'sluice.yaml'), yaml);
    return kinds.settings.read({ folder, environment: {} });
  };
  t.match(read('topics:\n  kind: elsewhere\n  elsewhere: {mount: /disk}\n').loaded?.config.topics, {
    kind: 'elsewhere',
    prefix: 'sluice.',
    elsewhere: { mount: '/disk', password: '' },
  });
  const lines = (yaml: string) => problemLines(read(yaml).problems).join('\n');
  t.match(
    lines('topics:\n  kind: elsewhere\n'),
    /topics\.elsewhere\.mount: .*Got nothing, with topics\.kind: elsewhere/,
  );
  t.match(lines('topics:\n  elsewhere:\n    mounted: /disk\n'), /sluice\.yaml:3:5: .*Did you mean mount\./);
  t.match(lines('workers: 2\ntopics:\n  kind: elsewhere\n  elsewhere: {mount: /disk}\n'), /topics\.kind: kafka, whose/);
});

t.test('the reference of settings names it', async (t) => {
  const reference = kinds.settings.reference();
  t.match(reference, '## `topics.elsewhere`');
  t.match(reference, 'segment files in the data folder, or Apache Kafka, or another folder.');
});

t.test('a program runs on it', async (t) => {
  const mount = testFolder(t);
  const running = await startRunning(t, {
    kinds,
    routes: [],
    settings: { 'topics.kind': 'elsewhere', 'topics.elsewhere': { mount } },
  });
  await running.sluice.sink?.push({
    receiver: 'gelf-tcp',
    lane: 1,
    receivedAt: Date.now(),
    values: [Buffer.from('{"short_message":"hello"}')],
    peers: '127.0.0.1:1',
    bytes: 25,
  });
  const states = await running.sluice.topics.partitions(running.sluice.logsTopic);
  t.equal(
    states.reduce((sum, { logEnd }) => sum + logEnd, 0),
    1,
  );
});
