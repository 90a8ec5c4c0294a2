import t from 'tap';
import { families } from '../../load/families.js';
import { createGenerator, createReader } from '../../load/generator.js';
import { createHistogram } from '../../load/histogram.js';

const now = 1_767_323_045_078;
function messages(seed: number, count: number, bytes = 420, run = '0badcafe'): string[] {
  const generator = createGenerator({ seed, run, bytes });
  const buffer = Buffer.alloc(generator.largestBytes);
  return Array.from({ length: count }, (_, sequence) =>
    buffer.toString('utf8', 0, generator.write(buffer, 0, { connection: 3, sent: sequence }, now)),
  );
}

t.test('the same seed makes the same messages, another seed others', async (t) => {
  t.same(messages(7, 300), messages(7, 300));
  t.not(messages(7, 300).join(), messages(8, 300).join());
});

t.test('every message is GELF with its place in the load and a time in milliseconds', async (t) => {
  const read = createReader('0badcafe');
  for (const [sequence, text] of messages(1, 2000).entries()) {
    const message = JSON.parse(text) as Record<string, unknown>;
    if (
      message['_load_sequence'] !== sequence ||
      message['_load_connection'] !== 3 ||
      message['_load_run'] !== '0badcafe' ||
      message['timestamp'] !== now / 1000 ||
      typeof message['host'] !== 'string' ||
      typeof message['short_message'] !== 'string'
    )
      t.fail(text);
    const place = read(Buffer.from(text));
    if (place?.connection !== 3 || place.sequence !== sequence) t.fail(`read back ${JSON.stringify(place)}`);
  }
  t.equal(read(Buffer.from('{"version":"1.1","host":"a"}')), undefined);
  t.equal(createReader('0badcaff')(Buffer.from(messages(1, 1)[0] ?? '')), undefined);
  const large = createGenerator({ seed: 1, run: '0badcafe', bytes: 420 });
  const buffer = Buffer.alloc(large.largestBytes);
  t.same(read(buffer.subarray(0, large.write(buffer, 0, { connection: 999_999, sent: 4_000_000_000 }, now))), {
    connection: 999_999,
    sequence: 4_000_000_000,
  });
});

t.test('the average size is the one asked for, and every kind of traffic is there', async (t) => {
  for (const bytes of [420, 900, 2000]) {
    const all = messages(1, 5000, bytes);
    const average = all.reduce((sum, text) => sum + text.length, 0) / all.length;
    t.ok(Math.abs(average - bytes) < bytes * 0.03, `${bytes}: ${average.toFixed(0)}`);
  }
  const text = messages(1, 2000).join('\n');
  for (const sign of [
    '"_kind":"KubernetesEvent"',
    '/var/log/audit/audit.log',
    'IllegalStateException\\n\\tat',
    'ingress-nginx',
    '"_logType":"int"',
    '"_logType":"access"',
    '"facility":"fluentd"',
    'kube-apiserver',
    '/var/log/messages',
  ])
    t.ok(text.includes(sign), sign);
  t.equal(
    families.reduce((sum, family) => sum + family.share, 0),
    100,
  );
});

t.test('percentiles are within 5 % of the truth', async (t) => {
  const histogram = createHistogram();
  for (let at = 1; at <= 10_000; at += 1) histogram.add(at / 10);
  const { count, p50, p99, max } = histogram.percentiles();
  t.equal(count, 10_000);
  t.ok(Math.abs(p50 - 500) < 26, String(p50));
  t.ok(Math.abs(p99 - 990) < 50, String(p99));
  t.equal(max, 1000);
  t.equal(createHistogram().percentiles().p99, 0);
});
