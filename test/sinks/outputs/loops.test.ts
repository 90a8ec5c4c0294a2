import t from 'tap';
import { createLoopWatch } from '../../../sinks/outputs/loops.js';

const message = (number: number): Buffer =>
  Buffer.from(`{"host":"h","short_message":"number ${number}","timestamp":${1_700_000_000 + number}}`);
/** Rounds of these messages, each with ids of its own. */
function loops(rounds: number, messages: number, pauseMs = 1_000): boolean {
  const watch = createLoopWatch();
  for (let round = 0; round < rounds; round += 1) {
    for (let number = 0; number < messages; number += 1)
      if (watch.sees(message(number), `${round}-${number}`, round * pauseMs)) return true;
  }
  return false;
}

t.test('what comes back again and again is a loop', async (t) => {
  t.ok(loops(6, 1_000));
  t.ok(loops(6, 60_000), 'also with very many messages on their way');
});

t.test('what only looks like one is none', async (t) => {
  t.notOk(loops(3, 5_000), 'a sender that sent everything again, twice');
  t.notOk(loops(1_000, 3), 'a few texts, repeated for ever');
  t.notOk(loops(30, 1_000, 24 * 3_600_000), 'the same file each day');
  const watch = createLoopWatch();
  t.notOk(
    Array.from({ length: 10 }).some(() =>
      Array.from({ length: 1_000 }).some((_, number) => watch.sees(message(number), `same-${number}`, 0)),
    ),
    'deliveries of the same messages',
  );
});

t.test('what was first seen longest ago is forgotten first', async (t) => {
  /** Rounds of the same 30 messages, each with others behind them that never return; every message is looked at. */
  const among = (others: number, pauseMs: number): boolean => {
    const watch = createLoopWatch(1);
    const sees = (number: number, round: number): boolean => watch.sees(message(number), `${round}`, round * pauseMs);
    for (let round = 0; round < 20; round += 1) {
      for (let number = 0; number < 30; number += 1) if (sees(number, round)) return true;
      for (let other = 1; other <= others; other += 1) if (sees(1_000 + round * others + other, round)) return true;
    }
    return false;
  };
  t.ok(among(2_500, 1_000), 'they are remembered to their third return');
  t.notOk(among(2_800, 1_000), 'they are forgotten before it');
  t.notOk(among(2_500, 11 * 60_000), 'they were seen too long ago, and are new again');
});
