/** A new kind of receivers is one file and one line: `line-receiver.ts` is the file, `kinds` below has the line. */
import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { receiverRoutes } from '../../api/http/routes/definitions/receivers.js';
import { problemLines } from '../../config/problem.js';
import { composeKinds, registeredKinds } from '../../program/kinds.js';
import { receiverKinds } from '../../receivers/registry.js';
import { startRunning } from '../api/http/routes/running.js';
import { testFolder } from '../program.js';
import { lineReceiver } from './line-receiver.js';
import { until } from './receiving.js';

const kinds = composeKinds({ ...registeredKinds, receivers: [...receiverKinds, lineReceiver] });

t.test('its settings are taken, with their defaults, and told where they stand', async (t) => {
  const folder = testFolder(t);
  const read = (text: string) => {
    writeFileSync(join(folder, 'sluice.yaml'), text);
    return kinds.settings.read({ folder, environment: {} });
  };
  const { loaded } = read('receivers:\n  - {type: text_lines, max_line_bytes: 70}\n');
  t.match(loaded?.config.receivers, [{ type: 'text_lines', name: 'text-lines', port: 5140, timestamp: 'sender' }]);
  t.same(loaded?.warnings, ['receivers[0].max_line_bytes is below 80: few lines are so short.']);
  const lines = (text: string) => problemLines(read(text).problems).join('\n');
  t.match(
    lines('receivers:\n  - {type: text_lines}\n  - {type: text_lines, name: two, max_line_byte: 3}\n'),
    /sluice\.yaml:3:\d+: .*max_line_byte\..*Did you mean max_line_bytes\./,
  );
  t.match(
    lines('receivers:\n  - {type: text_lines, max_line_bytes: 9 MiB}\n'),
    /sluice\.yaml:2:\d+: receivers\[0\]\.max_line_bytes: .*topics\.max_message_bytes/,
  );
  t.match(
    lines('receivers:\n  - {type: gelf_tcp}\n  - {type: text_lines, port: 12201}\n'),
    /which receiver gelf-tcp has taken/,
  );
  t.match(lines('receivers:\n  - {type: text_line}\n'), /Allowed: gelf_tcp.*, text_lines\. Did you mean text_lines\./s);
});

t.test('the reference of settings names it', async (t) => {
  const reference = kinds.settings.reference();
  t.match(reference, '`receivers` of type `text_lines`');
  t.match(reference, '| `max_line_bytes` | `64 KiB` |');
});

t.test('it runs from the settings and from the API, and is shown as an input', async (t) => {
  const running = await startRunning(t, {
    kinds,
    routes: [receiverRoutes],
    settings: { receivers: [{ type: 'text_lines', host: '127.0.0.1', port: 0, password: 'hidden' }] },
  });
  const { body } = await running.told('GET', '/api/system/inputs');
  t.match(body, { inputs: [{ name: 'text-lines', type: 'text_lines', secrets: ['password'] }] });
  t.notMatch(JSON.stringify(body), 'hidden');
  t.match((await running.told('GET', '/api/system/inputs/types')).body, { types: { text_lines: 'Lines of text' } });

  const created = await running.told('POST', '/api/system/inputs', {
    body: {
      title: 'More lines',
      type: 'org.example.inputs.TextLinesInput',
      configuration: { bind_address: '127.0.0.1', port: 0, max_message_size: 1000 },
    },
  });
  t.equal(created.status, 201, JSON.stringify(created.body));
  const made = `/api/system/inputs/${String(created.body['name'])}`;
  t.match((await running.told('GET', made)).body, { type: 'text_lines', configuration: { max_line_bytes: 1000 } });
  await until('both to listen', () => running.sluice.receivers.length === 2);

  for (const receiver of running.sluice.receivers) connect(receiver.address().port, '127.0.0.1').end('one\ntwo\n');
  await until('the messages', async () => {
    const state = await running.sluice.topics.partitions(running.sluice.logsTopic);
    return state.reduce((sum, { logEnd, earliest }) => sum + logEnd - earliest, 0) === 4;
  });
});
