import t from 'tap';
import { simulate } from './simulation/scheduler.js';
import { switches, type Switch } from './simulation/switches.js';
import { traceOf } from './simulation/trace.js';

const seeds = Number(process.env['SLUICE_SEEDS'] ?? 10_000);

t.test(`the promise holds in the worlds of seeds 1 to ${seeds}`, (t) => {
  let failed: number | undefined;
  for (let seed = 1; seed <= seeds && failed === undefined; seed += 1) if (simulate(seed) !== undefined) failed = seed;
  if (failed !== undefined) {
    const { problem = '', lines } = traceOf(failed, {});
    process.stderr.write(`${lines.join('\n')}\nseed ${failed}: ${problem}\nReplay it: npm run simulate -- --seed ${failed}\n`);
  }
  t.equal(failed, undefined);
  t.end();
});

t.test('a seed always plays the same world', (t) => {
  for (const seed of [1, 2, 3]) t.same(traceOf(seed, {}), traceOf(seed, {}));
  t.end();
});

/** A seed that fails without the rule. Another, after a change of the simulation: `npm run simulate -- --without <rule>`. */
const failing: Partial<Record<Switch, number>> = {
};

for (const [rule, seed] of Object.entries(failing) as [Switch, number][]) {
  t.test(`without ${rule} the world of seed ${seed} breaks the promise: ${switches[rule]}`, (t) => {
    t.not(simulate(seed, { without: [rule] }), undefined);
    t.equal(simulate(seed), undefined, 'with it the promise holds');
    t.end();
  });
}
