import { join } from 'node:path';
import t from 'tap';
import { startProgram, testFolder, until } from '../../program.js';
import { createStreamDestination } from '../../sinks/outputs/receivers.js';
import { numberedMessages, numbersOf, outputsOf, send, writeRules } from './with-outputs.js';

t.setTimeout(180_000);

t.test(
  'messages of a stream leave by GELF TCP: untouched ones byte for byte, changed ones with what rules changed',
  async (t) => {
    const destination = await createStreamDestination(t);
    const folder = testFolder(t);
    writeRules(folder, {
      rules: [
        { id: 'team', when: { field: 'kind', equals: 'b' }, then: [{ set: { field: 'team', value: 'payments' } }] },
      ],
      outputs: [{ id: 'archive', type: 'gelf', host: '127.0.0.1', port: destination.port, streams: ['all-messages'] }],
    });
    const program = await startProgram(t, { folder, settings: { rules: { folder: join(folder, 'sluice.d') } } });
    const plain =
      '{ "version":"1.1","host":"h",  "short_message":"as it came","_kind":"a","_big":12345678901234567890,"level":6,"_hostname":"h" }';
    await send(program, [
      plain,
      '{"version":"1.1","host":"h","short_message":"changed","_kind":"b","_nested":{"a": 1},"level":6,"_hostname":"h"}',
    ]);
    const frames = await until(
      () => (destination.frames(0).length === 2 ? destination.frames(0) : undefined),
      60_000,
      () => program.output(),
    );
    t.same(frames, [
      plain,
      '{"version":"1.1","host":"h","short_message":"changed","_kind":"b","_nested":{"a": 1},"level":6,"_hostname":"h","_team":"payments"}',
    ]);
    await until(
      async () => ((await outputsOf(program))[0]?.lag === 0 ? true : undefined),
      60_000,
      () => program.output(),
    );
    t.match(await outputsOf(program), [{ id: 'archive', state: 'connected', lag: 0 }]);
    const { admin_port: admin } = await program.status();
    const metrics = await (await fetch(`http://127.0.0.1:${admin}/metrics`)).text();
    t.match(metrics, 'sluice_output_messages_sent_total{output="archive"} 2');
    t.match(metrics, 'sluice_output_connected{output="archive"} 1');
    t.equal(await program.end(), 0);
  },
);

t.test(
  'an output of a stream that takes everything does not get what is in Audit logs; one of Audit logs does',
  async (t) => {
    const [everything, audit] = [await createStreamDestination(t), await createStreamDestination(t)];
    const folder = testFolder(t);
    writeRules(folder, {
      streams: [{ id: 'grab', title: 'Grab', when: { always: true } }],
      outputs: [
        { id: 'everything', type: 'gelf', host: '127.0.0.1', port: everything.port, streams: ['grab'] },
        { id: 'audit', type: 'gelf', host: '127.0.0.1', port: audit.port, streams: ['audit-logs'] },
      ],
    });
    const program = await startProgram(t, { folder, settings: { rules: { folder: join(folder, 'sluice.d') } } });
    const message = (number: number, more: string): string =>
      `{"version":"1.1","host":"h","short_message":"m","_n":${number}${more},"level":6,"_hostname":"h"}`;
    await send(program, [
      message(1, ''),
      message(2, ',"_logType":"audit"'),
      message(3, ',"_nc_audit_label":"true"'),
      message(4, ''),
    ]);
    await until(
      () => (everything.frames(0).length >= 2 && audit.frames(0).length >= 2 ? true : undefined),
      60_000,
      () => program.output(),
    );
    await until(
      async () => ((await outputsOf(program)).every(({ lag }) => lag === 0) ? true : undefined),
      60_000,
      () => program.output(),
    );
    t.same(numbersOf(everything.frames(0)), [1, 4]);
    t.same(numbersOf(audit.frames(0)), [2, 3]);
  },
);

t.test('killed while it forwards, it forwards everything', async (t) => {
  const destination = await createStreamDestination(t);
  const folder = testFolder(t);
  writeRules(folder, {
    outputs: [{ id: 'archive', type: 'gelf', host: '127.0.0.1', port: destination.port, streams: ['all-messages'] }],
  });
  const settings = { rules: { folder: join(folder, 'sluice.d') } };
  let program = await startProgram(t, { folder, settings });
  const total = 20_000;
  await send(program, numberedMessages(total));
  const numbers = (): number[] => numbersOf(destination.frames(0));
  await until(
    () => (numbers().length > 1_000 ? true : undefined),
    60_000,
    () => program.output(),
  );
  const appended = async (): Promise<number> =>
    Number(
      /sluice_messages_appended_total\{receiver="gelf-tcp"\} (\d+)/.exec(
        await (await fetch(`http://127.0.0.1:${(await program.status()).admin_port}/metrics`)).text(),
      )?.[1] ?? 0,
    );
  await until(
    async () => ((await appended()) === total ? true : undefined),
    60_000,
    () => program.output(),
  );
  await program.end('SIGKILL');
  program = await startProgram(t, { folder, settings });
  await until(
    () => (numbers().length === total ? true : undefined),
    60_000,
    () => `${numbers().length} of ${total}`,
  );
  t.same(
    numbers(),
    Array.from({ length: total }, (_, number) => number),
    'none is missing, in order of their first arrival',
  );
});
