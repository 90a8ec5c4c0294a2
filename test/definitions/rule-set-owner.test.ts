import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { RuleSetChange } from '../../rules/contract.js';
import { createRig, until, type Rig } from './rig.js';

const stream = (id: string) => ({ definition: { id, rules: [{ type: 'exact', field: 'app', value: id }] } });

function writeRules(rig: Rig, text: string): void {
  mkdirSync(join(rig.folder, 'rules'), { recursive: true });
  writeFileSync(join(rig.folder, 'rules', 'own.yaml'), text);
}

/** Counts what is compiled from now on. */
function countCompilations(t: Test): { count: number } {
  const counted = { count: 0 };
  const note = (): void => void (counted.count += 1);
  subscribe('sluice:rules:compile', note);
  t.teardown(() => unsubscribe('sluice:rules:compile', note));
  return counted;
}

/** What each of three subscribers is told from now on, as streams of the rule set or `refused`. */
async function watched(rig: Rig): Promise<readonly (readonly string[])[]> {
  const known = await rig.world.ruleSets.load();
  return [0, 1, 2].map(() => {
    const told: string[] = [];
    rig.world.ruleSets.subscribe(known, (change: RuleSetChange) =>
      told.push('refused' in change ? 'refused' : (change.ruleSet.streams.at(-1)?.id ?? '')),
    );
    return told;
  });
}

/** Longer than the files are polled. */
const quiet = () => new Promise((resolve) => setTimeout(resolve, 2_500));

await t.test('an edit of a file is compiled once, and told to each subscriber once', async (t) => {
  const rig = await createRig(t);
  const told = await watched(rig);
  const compilations = countCompilations(t);
  writeRules(rig, 'streams: [{id: billing}]');
  await until(() => told.every((changes) => changes.length > 0));
  await quiet();
  t.same(told, [['billing'], ['billing'], ['billing']]);
  t.equal(compilations.count, 1);
});

await t.test('a change through the API is compiled once: what was checked comes into force', async (t) => {
  const rig = await createRig(t);
  const told = await watched(rig);
  const compilations = countCompilations(t);
  await rig.world.writer().create('streams', 'orders', stream('orders'), 'anna');
  t.ok((await rig.world.catalog()).find('streams', 'orders'));
  await until(() => told.every((changes) => changes.length > 0));
  await quiet();
  t.same(told, [['orders'], ['orders'], ['orders']]);
  t.equal(compilations.count, 1);
});

await t.test('a change that cannot be used is told once, and leaves the rules in force', async (t) => {
  const rig = await createRig(t);
  const [told] = await watched(rig);
  const before = rig.world.ruleSets.current();
  const compilations = countCompilations(t);
  writeRules(rig, 'streams: [{id: 5}]');
  await until(() => told?.length === 1);
  await t.rejects(rig.world.ruleSets.load(), { code: 'PIPELINE_RULES_INVALID' });
  await quiet();
  t.same(told, ['refused']);
  t.equal(rig.world.ruleSets.current(), before);
  t.equal(compilations.count, 1);
  writeRules(rig, 'streams: [{id: five}]');
  await until(() => told?.length === 2);
  t.same(told, ['refused', 'five']);
});

await t.test('who subscribes late is told what came in between', async (t) => {
  const rig = await createRig(t);
  const known = await rig.world.ruleSets.load();
  await rig.world.writer().create('streams', 'orders', stream('orders'), 'anna');
  const current = await rig.world.ruleSets.load();
  const told: RuleSetChange[] = [];
  const unsubscribed: RuleSetChange[] = [];
  rig.world.ruleSets.subscribe(known, (change) => told.push(change));
  rig.world.ruleSets.subscribe(current, (change) => unsubscribed.push(change))();
  t.same(
    told.map((change) => 'ruleSet' in change && change.ruleSet.version),
    [current.version],
  );
  await rig.world.writer().create('streams', 'bills', stream('bills'), 'anna');
  await until(() => told.length === 2);
  t.same(unsubscribed, []);
});
