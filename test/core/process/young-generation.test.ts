import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { node } from '../../program.js';

const script = (module: string): string => `
import { getHeapSpaceStatistics } from 'node:v8';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
const { holdYoungGeneration, holdYoungGenerationStill, noteTraffic } = await import(${JSON.stringify(module)});
const kept = [];
const grown = () => {
  for (let count = 0; count < 300_000; count += 1) kept.push({ count, text: 'x' + count });
  return getHeapSpaceStatistics().find((space) => space.space_name === 'new_space').space_size;
};
holdYoungGeneration();
const held = grown();
const worker = new Worker('', { eval: true });
await once(worker, 'online');
holdYoungGenerationStill();
const heldStill = grown();
noteTraffic(999);
const fewMessages = grown();
noteTraffic(1);
console.log(JSON.stringify({ held, heldStill, fewMessages, traffic: grown() }));`;

t.test('the young generation is held through the start of a thread and grows with traffic', async (t) => {
  const module = pathToFileURL(
    join(import.meta.dirname, '..', '..', '..', 'core', 'process', 'young-generation.js'),
  ).href;
  const [command, ...leading] = node;
  const sizes = JSON.parse(
    execFileSync(command, [...leading, '--input-type=module', '-e', script(module)], { encoding: 'utf8' }),
  ) as Record<'held' | 'heldStill' | 'fewMessages' | 'traffic', number>;
  // It may double once while the thread starts; not held it would be 32 MiB by then.
  t.ok(sizes.heldStill <= 4 * sizes.held, JSON.stringify(sizes));
  t.equal(sizes.fewMessages, sizes.heldStill);
  t.ok(sizes.traffic > sizes.heldStill, JSON.stringify(sizes));
});
