/** A replay that is interrupted, and one that is killed: on the embedded engines too each message is stored once. */
import { gzipSync } from 'node:zlib';
import t from 'tap';
import { receiversOnFreePorts, startProgram, testFolder, until } from '../../program.js';
import { deadLettersVerb, listDeadLetters, search, sendDatagrams, untilDeadLetters } from './verb.js';

t.setTimeout(180_000);

const count = 600;
const receivers = (maxInflatedBytes: number) =>
  receiversOnFreePorts.map((receiver) =>
    receiver.type === 'gelf_http' ? receiver : { ...receiver, max_inflated_bytes: maxInflatedBytes },
  );

t.test('interrupted, killed and begun again, a replay stores each message once', async (t) => {
  const folder = testFolder(t);
  const small = await startProgram(t, { folder, settings: { receivers: receivers(100) } });
  const texts = Array.from({ length: count }, (_, at) => `message ${at} ${'.'.repeat(100)}`);
  await sendDatagrams(
    small.port('gelf-udp'),
    texts.map((text) => gzipSync(JSON.stringify({ host: 'killed', short_message: text }))),
  );
  await untilDeadLetters(small, count);
  await small.end();

  let program = await startProgram(t, { folder, settings: { receivers: receivers(10_000) } });
  const interrupted = await deadLettersVerb(program, 'replay', [], { all: true }, 200);
  t.equal(interrupted.code, 1);
  t.match(
    interrupted.out,
    /^Interrupted after (200|400) of 600 dead letters: (200|400) replayed\. The rest is untouched\.$/,
  );
  const done = Number(/after (\d+)/.exec(interrupted.out)?.[1]);
  t.equal((await listDeadLetters(program, { state: 'replayed' })).length, done);
  t.equal((await listDeadLetters(program)).length, count - done);

  await program.control
    .stream('/dead-letters/replay', { all: true }, (line) => {
      if ('progress' in (line as object)) setTimeout(() => program.child.kill('SIGKILL'), Math.random() * 250);
    })
    .catch(() => undefined);
  await until(
    () => (program.child.signalCode === null ? undefined : true),
    30_000,
    () => 'it was not killed',
  );
  program = await startProgram(t, { folder, settings: { receivers: receivers(10_000) } });
  const states = (await listDeadLetters(program, { state: 'all' })).map(({ state }) => state);
  t.comment(
    ['open', 'targeted', 'replayed']
      .map((state) => `${state} ${states.filter((one) => one === state).length}`)
      .join(', '),
  );
  await program.control.request('POST', '/rotate', { index_set: 'sluice_default' });
  const results = await Promise.all([1, 2].map(() => deadLettersVerb(program, 'replay', [], { all: true })));
  t.same(
    results.map(({ code }) => code),
    [0, 0],
    results.map(({ out }) => out).join(' '),
  );
  const { hits } = await search(program, 'source:killed');
  const stored = hits.map(({ document }) => String(document['message']));
  t.same([...stored].sort(), [...texts].sort(), 'none missing, none doubled');
});
