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
    process.stderr.write(
      `${lines.join('\n')}\nseed ${failed}: ${problem}\nReplay it: npm run simulate -- --seed ${failed}\n`,
    );
  }
  t.equal(failed, undefined);
  t.end();
});

t.test('a seed always plays the same world', (t) => {
  for (const seed of [1, 2, 3]) t.same(traceOf(seed, {}), traceOf(seed, {}));
  t.end();
});

/**
 * A seed that fails without the rule. Another, after a change of the simulation:
 * `npm run simulate -- --without <rule>`.
 */
const failing: Partial<Record<Switch, number>> = {
  'rule-1': 1,
  'rule-2': 175,
  'rule-3': 1770,
  'rule-4': 1,
  'rule-5': 1,
  'rule-6': 18,
  'rule-7': 1,
  'rule-7-marks': 559,
  'rule-8': 3,
  'rule-9': 110,
  'rule-10': 60,
  'rule-10-id': 161,
  'rule-10-look': 215,
  'rule-10-stored': 155,
  'letters-once': 105,
  'rule-11': 23,
  'rule-11-generation': 860,
  'rule-12': 282,
};

for (const [rule, seed] of Object.entries(failing) as [Switch, number][]) {
  t.test(`without ${rule} the world of seed ${seed} breaks the promise: ${switches[rule]}`, (t) => {
    t.not(simulate(seed, { without: [rule] }), undefined);
    t.equal(simulate(seed), undefined, 'with it the promise holds');
    t.end();
  });
}
