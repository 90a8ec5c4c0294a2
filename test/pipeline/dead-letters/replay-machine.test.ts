import t from 'tap';
import { simulateReplay, type Drops } from './world.js';

const seeds = Number(process.env['SLUICE_SEEDS'] ?? 20_000);

t.test(
  'whatever crashes, pauses, rotates and arrives late, a replayed message is in each of its index sets once',
  async (t) => {
    for (let seed = 1; seed <= seeds; seed += 1) {
      const wrong = simulateReplay(seed);
      if (wrong !== undefined) return t.fail(wrong);
    }
    t.pass(`${seeds} worlds`);
  },
);

const rules: readonly (readonly [name: string, drops: Drops])[] = [
  ['the target that the dead letter recorded', { recordedTarget: true }],
  ['the revision of the tombstone that the dead letter recorded', { recordedTombstones: true }],
  ['the tombstone that is written anew after a refusal', { renewedTombstones: true }],
];

for (const [name, drops] of rules) {
  t.test(`a world fails without ${name}`, async (t) => {
    let wrong: string | undefined;
    for (let seed = 1; seed <= 50_000 && wrong === undefined; seed += 1) wrong = simulateReplay(seed, drops);
    t.match(wrong, /doubled|missing|stored and/);
  });
}
