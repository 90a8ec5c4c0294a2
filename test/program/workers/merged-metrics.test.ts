import t from 'tap';
import { buildMetrics, defineMetrics, Registry } from '../../../core/metrics.js';
import { createMergedMetrics, type MetricSnapshot } from '../../../program/workers/merged-metrics.js';

const declared = defineMetrics({
  taken: { type: 'counter', name: 'taken_total', help: 'Taken.', labels: ['kind'] },
  open: { type: 'gauge', name: 'open', help: 'Open.' },
  size: { type: 'gauge', across: 'max', name: 'size', help: 'Size that all see.' },
  buffer: { type: 'gauge', across: 'min', name: 'buffer', help: 'Granted.' },
  seconds: { type: 'histogram', name: 'seconds', help: 'Seconds.', buckets: [1, 2] },
});

async function snapshot(taken: number, open: number, size: number, buffer: number): Promise<readonly MetricSnapshot[]> {
  const registry = new Registry();
  const metrics = buildMetrics(registry, declared);
  metrics.taken.inc({ kind: 'a' }, taken);
  metrics.open.set(open);
  metrics.size.set(size);
  metrics.buffer.set(buffer);
  metrics.seconds.observe(1.5);
  return (await registry.getMetricsAsJSON()) as unknown as readonly MetricSnapshot[];
}

const lines = (text: string): string[] => text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));

t.test('counters and histograms are summed, gauges as they declare', async (t) => {
  const merged = createMergedMetrics();
  merged.learn(1, await snapshot(3, 5, 100, 8));
  merged.learn(2, await snapshot(4, 6, 90, 4));
  const own = new Registry();
  buildMetrics(own, defineMetrics({ workers: { type: 'gauge', name: 'workers', help: 'Workers.' } })).workers.set(2);
  t.same(lines(await merged.text(own)), [
    'taken_total{kind="a"} 7',
    'open 11',
    'size 100',
    'buffer 4',
    'seconds_bucket{le="1"} 0',
    'seconds_bucket{le="2"} 2',
    'seconds_bucket{le="+Inf"} 2',
    'seconds_sum 3',
    'seconds_count 2',
    'workers 2',
  ]);
});

t.test('counts of workers that ended stay, their gauges go', async (t) => {
  const merged = createMergedMetrics();
  const none = new Registry();
  for (let life = 0; life < 3; life += 1) {
    merged.learn(1, await snapshot(3, 5, 100, 8));
    merged.departed(1);
  }
  t.same(lines(await merged.text(none)).slice(0, 2), ['taken_total{kind="a"} 9', 'seconds_bucket{le="1"} 0']);
  merged.learn(1, await snapshot(1, 2, 50, 8));
  const text = lines(await merged.text(none));
  t.ok(text.includes('taken_total{kind="a"} 10'));
  t.ok(text.includes('open 2'));
  t.ok(text.includes('seconds_count 4'));
});
