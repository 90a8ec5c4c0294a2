import { createSocket } from 'node:dgram';
import { connect } from 'node:net';
import t from 'tap';
import { scrape } from '../endurance/figures.js';
import { startProgram, until, workedOff } from '../program.js';

t.test('the counts of one run reconcile exactly, good and bad input mixed', async (t) => {
  const program = await startProgram(t);
  const { admin_port: admin } = await program.status();
  const tcp = connect(program.port('gelf-tcp'), '127.0.0.1');
  for (let number = 0; number < 500; number += 1) {
    tcp.write(
      `{"host":"h","short_message":"message ${number}","_logType":"${number % 5 === 0 ? 'access' : 'none'}"}\0`,
    );
    if (number % 50 === 0) tcp.write('not json\0{"host":42,"short_message":"x"}\0\0');
  }
  await new Promise<void>((resolve) => tcp.end(() => resolve()));
  const udp = createSocket('udp4');
  for (const text of ['{"host":"h","short_message":"by udp"}', 'garbage', '\u0001'])
    await new Promise((resolve) => udp.send(text, program.port('gelf-udp'), '127.0.0.1', resolve));
  udp.close();
  const url = `http://127.0.0.1:${program.port('gelf-http')}/gelf`;
  t.equal(
    (await fetch(url, { method: 'POST', body: '[{"host":"h","short_message":"one"},{"host":"h"}]' })).status,
    202,
  );
  t.equal((await fetch(url, { method: 'POST', body: '{"host":"h"}' })).status, 400);

  const samples = await until(
    async () => {
      const now = await scrape(admin);
      const received = now('sluice_messages_received_total');
      return received >= 526 &&
        now('sluice_messages_appended_total') === now('sluice_messages_decoded_total') &&
        (await program.status()).lag === 0
        ? now
        : undefined;
    },
    15_000,
    () => program.output(),
  );
  await workedOff(program);
  for (const receiver of ['gelf-tcp', 'gelf-udp', 'gelf-http']) {
    const count = (what: string) => samples(`sluice_messages_${what}_total`, { receiver });
    t.equal(
      count('received'),
      count('decoded') + count('refused') + count('shed'),
      `${receiver}: received = decoded + refused + shed`,
    );
    t.equal(
      count('decoded'),
      count('appended') + samples('sluice_messages_waiting', { receiver }),
      `${receiver}: decoded = appended + waiting`,
    );
  }
  t.equal(samples('sluice_messages_decoded_total'), 502);
  const after = await scrape(admin);
  for (const set of ['sluice_default', 'sluice_access', 'sluice_dead_letters']) {
    const count = (what: string) => after(`sluice_documents_${what}_total`, { index_set: set });
    const settled =
      count('stored') +
      count('already_stored') +
      count('dead_lettered') +
      count('parked') +
      count('retired') +
      count('abandoned') +
      after('sluice_documents_in_flight', { index_set: set });
    t.equal(
      count('routed'),
      settled,
      `${set}: routed = stored + already stored + dead-lettered + parked + retired + abandoned + in flight`,
    );
  }
  t.equal(after('sluice_documents_stored_total', { index_set: 'sluice_access' }), 100);
  t.equal(after('sluice_documents_stored_total', { index_set: 'sluice_default' }), 402);
  t.ok(after('sluice_documents_stored_total', { index_set: 'sluice_dead_letters' }) >= 22);
  t.ok(
    after('sluice_stream_messages_total', { stream: 'access-logs' }) === 100 && after('sluice_rule_matches_total') > 0,
  );
});

t.test('health says what it checked', async (t) => {
  const program = await startProgram(t);
  const { admin_port: admin } = await program.status();
  for (const path of ['live', 'ready']) {
    const answer = await fetch(`http://127.0.0.1:${admin}/health/${path}`);
    t.equal(answer.status, 200);
    t.match(await answer.json(), { status: 'ok', checks: [{ ok: true, reason: String }] });
  }
  t.equal((await fetch(`http://127.0.0.1:${admin}/nothing`)).status, 404);
  t.equal((await fetch(`http://127.0.0.1:${admin}/metrics`, { method: 'POST' })).status, 405);
});

t.test('undecodable input is found among the dead letters, with its reason and its bytes', async (t) => {
  const program = await startProgram(t);
  const tcp = connect(program.port('gelf-tcp'), '127.0.0.1');
  tcp.end('{"host":"h","short_message":\0');
  const found = await until(
    async () => {
      const result = (await program.control.request('POST', '/search', {
        query: '',
        index_sets: ['sluice_dead_letters'],
      })) as { total: number; hits: readonly { document: Record<string, unknown> }[] };
      return result.total === 1 ? result.hits[0] : undefined;
    },
    10_000,
    () => program.output(),
  );
  t.match(found.document, {
    code: /^DECODE_/,
    receiver: 'gelf-tcp',
    peer_address: /127\.0\.0\.1/,
    raw: '{"host":"h","short_message":',
    raw_length: 28,
  });
});
