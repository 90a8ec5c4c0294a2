import t from 'tap';
import { createLoopWatch } from '../../../sinks/outputs/loops.js';

const message = (number: number): Buffer => Buffer.from(`{"host":"h","short_message":"number ${number}","timestamp":${1_700_000_000 + number}}`);
/** Rounds of these messages, each with ids of its own. */
function loops(rounds: number, messages: number, pauseMs = 1_000): boolean {
  const watch = createLoopWatch();
  for (let round = 0; round < rounds; round += 1) {
    for (let number = 0; number < messages; number += 1) if (watch.sees(message(number), `${round}-${number}`, round * pauseMs)) return true;
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
  t.notOk(Array.from({ length: 10 }).some(() => Array.from({ length: 1_000 }).some((_, number) => watch.sees(message(number), `same-${number}`, 0))), 'deliveries of the same messages');
});
