/** What an operator sees of the running program: status, top, tap. */
import { execFile, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { connect, createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { cleanEnvironment, commandLine, node, startProgram, testFolder, until, type Program } from '../program.js';

const run = promisify(execFile);

async function sluice(program: Program, ...words: readonly string[]): Promise<string> {
  const [command, ...leading] = node;
  const { stdout } = await run(command, [...leading, commandLine, ...words, '--config', program.settingsFile], {
    env: cleanEnvironment(),
  });
  return stdout;
}

/** Keeps sending until the test ends, so that there is something to see at any moment. */
function keepSending(t: { teardown(action: () => void): void }, program: Program): void {
  const socket = connect(program.port('gelf-tcp'), '127.0.0.1');
  let number = 0;
  const timer = setInterval(() => {
    const slow = Date.now() / 1000 - 3600;
    socket.write(
      `{"host":"h","short_message":"tick ${number}\\u001b[31m","timestamp":${slow}}\0${number % 10 === 0 ? 'not json\0' : ''}`,
    );
    number += 1;
  }, 20);
  t.teardown(() => {
    clearInterval(timer);
    socket.destroy();
  });
}

t.test('an operator sees rates, senders with their clocks, and what passes', async (t) => {
  const folder = testFolder(t);
  const destination = createServer((socket) => void socket.resume());
  await new Promise<void>((resolve) => destination.listen(0, '127.0.0.1', () => resolve()));
  t.teardown(() => void destination.close());
  mkdirSync(join(folder, 'sluice.d'));
  const { port } = destination.address() as AddressInfo;
  writeFileSync(
    join(folder, 'sluice.d', 'outputs.yaml'),
    `outputs: [{id: siem, type: gelf, protocol: tcp, host: 127.0.0.1, port: ${port}, streams: [all-messages]}]\n`,
  );
  const program = await startProgram(t, { folder });
  keepSending(t, program);
  await until(
    async () =>
      (await program.status()).index_sets.some((set) => set.indices.some((index) => index.documents > 0))
        ? true
        : undefined,
    30_000,
    () => program.output(),
  );

  const senders = (await sluice(program, 'top', '--json', '--interval', '1'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  const [sender] = senders;
  t.equal(sender?.['name'], 'gelf-tcp 127.0.0.1', 'one sender, by address');
  t.ok((sender?.['per_second'] as number) > 1 && (sender?.['refused'] as number) > 0, 'its rate and its refusals');
  t.ok(Math.abs((sender?.['clock_skew_ms'] as number) - 3_600_000) < 60_000, 'its clock is an hour slow');
  t.match(
    await sluice(program, 'top'),
    /sender +per second +messages[^\n]*clock\ngelf-tcp 127\.0\.0\.1 .* 1 h slow|60 min slow/,
  );
  t.match(await sluice(program, 'top', '--by', 'stream'), /all-messages +\d/);
  t.match(await sluice(program, 'top', '--by', 'rule', '--limit', '1'), /^rule +per second +messages\n\S+ +\d/m);

  const received = await sluice(program, 'tap', 'gelf-tcp', '--limit', '2');
  t.match(
    received,
    /^127\.0\.0\.1:\d+ {2}\{"host":"h","short_message":"tick \d+\\u001b\[31m/,
    'a receiver shows what was sent',
  );
  const stored = (await sluice(program, 'tap', 'stream:all-messages', '--limit', '2', '--json'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { text: string; id: string });
  t.equal(stored.length, 2);
  t.match(
    JSON.parse(stored[0]?.text ?? ''),
    { message: /tick/, streams: ['all-messages'] },
    'a stream shows what is stored',
  );
  t.match(
    JSON.parse((await sluice(program, 'tap', 'siem', '--limit', '1', '--json')).trim()),
    { text: /^\{"host":"h","short_message":"tick/ },
    'an output shows what it has been given',
  );
  await t.rejects(sluice(program, 'tap', 'nothing'), {
    code: 2,
    stderr: /no receiver, stream or output of this process.*receiver:gelf-tcp.*stream:all-messages/s,
  });

  const status = await sluice(program, 'status');
  t.match(status, /in [1-9]\d* messages; [1-9]\d* refused, 0 shed\n {2}stored [1-9]\d* documents/);
  t.match(status, /sluice_default +sluice_default_0 .* 0 % of 20 GB/);
  t.match(status, /output +state +waiting +sent +failed +dropped +last error\nsiem +connected/);
  t.match(status, /last warnings and errors\n/);
});

t.test('a watched status goes on with rates until it is interrupted', async (t) => {
  const program = await startProgram(t);
  keepSending(t, program);
  const [command, ...leading] = node;
  const child = spawn(command, [...leading, commandLine, 'status', '--watch', '--config', program.settingsFile], {
    env: cleanEnvironment(),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  await until(
    () => ((output.match(/in [1-9]\d*\/s, in all/g) ?? []).length >= 2 ? true : undefined),
    30_000,
    () => output,
  );
  t.notMatch(output, /\u001b/, 'a file gets no escapes');
  child.kill('SIGINT');
  t.equal(await ended, 0);
});
