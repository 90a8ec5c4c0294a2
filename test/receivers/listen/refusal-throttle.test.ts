import { once } from 'node:events';
import t from 'tap';
import { createRefusalThrottle } from '../../../receivers/listen/refusal-throttle.js';
import { connectTo, gelf, reconcile, startReceiver, until } from '../receiving.js';

t.test(
  'an address waits nine times what its refused input has cost, two seconds at the most, and is forgotten then',
  (t) => {
    let time = 1_000;
    const refusalThrottle = createRefusalThrottle(() => time);
    t.notOk(refusalThrottle.holds('a'));
    t.equal(refusalThrottle.charge('a', 10, 0, 0), 1_090);
    t.ok(refusalThrottle.holds('a'));
    t.notOk(refusalThrottle.holds('b'));
    t.equal(refusalThrottle.charge('a', 10, 0, 0), 1_180, 'connections of one address share its time');
    t.ok(refusalThrottle.charge('b', 0, 1, 64 * 1024) > 1_000, 'a dead letter costs more than the time to refuse it');
    t.equal(refusalThrottle.charge('a', 10_000, 0, 0), 3_000);
    time = 3_000;
    t.notOk(refusalThrottle.holds('a'));
    t.end();
  },
);

t.test('ten thousand addresses are remembered, not more', (t) => {
  const refusalThrottle = createRefusalThrottle(() => 0);
  for (let number = 0; number < 10_001; number += 1) refusalThrottle.charge(`address ${number}`, 1, 0, 0);
  t.notOk(refusalThrottle.holds('address 0'));
  t.ok(refusalThrottle.holds('address 1') && refusalThrottle.holds('address 10000'));
  t.end();
});

t.test(
  'a sender of garbage is taken in pieces, loses nothing, and its good message behind the garbage arrives',
  async (t) => {
    const running = await startReceiver(t, 'gelf_tcp');
    const hostile = await connectTo(t, running.port);
    const frames = 10_000;
    hostile.write(`${'y\0'.repeat(frames)}${gelf('behind')}\0`);
    await until('the first refusals', () => running.sink.refusals.length > 0);
    t.ok(running.sink.refusals.length < frames, `${running.sink.refusals.length} of ${frames} refused at once`);
    const honest = await connectTo(t, running.port);
    honest.write(`${gelf('beside')}\0`);
    await until('the honest message', () => running.sink.shorts().includes('beside'));
    t.notOk(running.sink.shorts().includes('behind'), 'the honest sender did not wait for the garbage to end');
    await until('the message behind the garbage', () => running.sink.shorts().includes('behind'), 20_000);
    t.equal(running.sink.refusals.length, frames);
    t.match(await reconcile(running), { received: frames + 2, decoded: 2, refused: frames, exact: true });
    hostile.end();
    await once(hostile.resume(), 'close');
  },
);
