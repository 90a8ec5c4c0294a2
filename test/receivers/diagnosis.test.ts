import { once } from 'node:events';
import { connect } from 'node:tls';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import t from 'tap';
import { Registry } from '../../core/metrics.js';
import { silentLog } from '../../core/log.js';
import { createDiagnoser, diagnose, diagnoses } from '../../receivers/diagnosis.js';
import { connectTo, gelf, sendOverTcp, sendOverUdp, startReceiver, until, type Running } from './receiving.js';

async function diagnosed(running: Running, diagnosis: string, count = 1): Promise<Record<string, unknown>> {
  await until(diagnosis, async () => (await running.count('sluice_diagnoses_made_total', { diagnosis })) >= count);
  return running.lines.find((line) => line['diagnosis'] === diagnosis) ?? {};
}

const clientHello = Buffer.concat([Buffer.from('160301004d010000490303', 'hex'), Buffer.alloc(67, 7)]);
const longText = gelf('a longer message', {
  _words: Array.from({ length: 100 }, (_, index) => `word${index * 7919}`).join(' '),
});

t.test('what foreign bytes seem to be', (t) => {
  const cases: [string, Buffer, string | undefined, RegExp?][] = [
    [
      'GET request',
      Buffer.from('GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n'),
      'http_on_gelf_port',
      /^GET \/metrics HTTP\/1/,
    ],
    ['POST request', Buffer.from(`POST /gelf HTTP/1.1\r\n\r\n${gelf('a')}`), 'http_on_gelf_port'],
    ['HTTP/2 preface', Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), 'http_on_gelf_port'],
    ['TLS client hello', clientHello, 'tls_on_plain_port'],
    ['syslog RFC 3164', Buffer.from('<13>Oct 11 22:14:15 mymachine su: hello'), 'syslog_on_gelf_port'],
    ['syslog RFC 5424', Buffer.from('<165>1 2003-10-11T22:14:15.003Z host app - ID47 - hello'), 'syslog_on_gelf_port'],
    [
      'syslog with octet count',
      Buffer.from('72 <165>1 2003-10-11T22:14:15.003Z host app - - - hello'),
      'syslog_on_gelf_port',
    ],
    ['zstd', Buffer.from('28b52ffd2004', 'hex'), 'unknown_compression', /zstd/],
    ['bzip2', Buffer.from('BZh91AY&SY'), 'unknown_compression', /bzip2/],
    ['xz', Buffer.from('fd377a585a0000', 'hex'), 'unknown_compression', /xz/],
    ['lz4', Buffer.from('04224d186040', 'hex'), 'unknown_compression', /lz4/],
    ['raw deflate', deflateRawSync(longText), 'unknown_compression', /raw deflate/],
    ['brotli', brotliCompressSync(longText), 'unknown_compression'],
    ['bad JSON', Buffer.from('{"short_message":'), undefined],
    ['text', Buffer.from('hello world, this is plain text'), undefined],
    ['text in another encoding', Buffer.from('fa\xe7ade et \xe9t\xe9 encore un peu', 'latin1'), undefined],
    ['a cut gzip message', gzipSync(longText).subarray(0, 40), undefined],
    ['a cut zlib message', deflateSync(longText).subarray(0, 40), undefined],
    ['nothing', Buffer.alloc(0), undefined],
  ];
  for (const [name, bytes, wanted, got] of cases) {
    const found = diagnose(bytes);
    t.equal(found?.name, wanted, name);
    if (got !== undefined) t.match(found?.got, got, name);
  }
  t.end();
});

t.test('newlines instead of NUL are named early, even when the connection stays open', async (t) => {
  const running = await startReceiver(t, 'gelf_tcp');
  const socket = await connectTo(t, running.port);
  socket.write(`${gelf('a')}\n${gelf('b')}\n`);
  t.match(await diagnosed(running, 'newline_for_null'), {
    level: 40,
    receiver: 'gelf-tcp',
    peer: /^127\.0\.0\.1:\d+$/,
    cure: /framing: newline/,
  });
  socket.end();
  await until('both messages', () => running.sink.texts().length === 2);
  t.same(running.sink.shorts(), ['a', 'b'], 'and nothing of it is lost');
});

t.test('a lone line at the end of a connection is taken, and named', async (t) => {
  const running = await startReceiver(t, 'gelf_tcp');
  await sendOverTcp(t, running.port, `${gelf('from nc')}\n`);
  await diagnosed(running, 'newline_for_null');
  t.same(running.sink.shorts(), ['from nc']);
  t.equal(running.sink.refusals.length, 0);
});

t.test('newlines in an oversize frame are named as the wrong delimiter', async (t) => {
  const running = await startReceiver(t, 'gelf_tcp', { max_frame_bytes: 1000 });
  await sendOverTcp(t, running.port, Array.from({ length: 50 }, () => `${gelf('line')}\n`).join(''));
  t.match(await diagnosed(running, 'newline_for_null'), { cure: /NUL/ });
});

t.test('two documents in a frame, in a datagram too', async (t) => {
  for (const type of ['gelf_tcp', 'gelf_udp'] as const) {
    const running = await startReceiver(t, type);
    const bytes = `${gelf('a')}${gelf('b')}`;
    if (type === 'gelf_tcp') await sendOverTcp(t, running.port, `${bytes}\0`);
    else await sendOverUdp(running.port, [bytes]);
    await diagnosed(running, 'two_documents');
    t.same(running.sink.shorts(), ['a', 'b']);
  }
});

t.test('foreign protocols are named while the sender still waits for an answer', async (t) => {
  for (const [name, bytes] of Object.entries({
    http_on_gelf_port: 'POST /gelf HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}',
    syslog_on_gelf_port: '<13>Oct 11 22:14:15 host su: hello\n',
    unknown_compression: Buffer.from('28b52ffd20040001', 'hex'),
  })) {
    const running = await startReceiver(t, 'gelf_tcp');
    const socket = await connectTo(t, running.port);
    socket.write(bytes);
    t.match(await diagnosed(running, name), { peer: `127.0.0.1:${socket.localPort}` }, name);
    socket.write(`\0${gelf('the connection lives')}\0`);
    await until('the message behind it', () => running.sink.texts().length === 1);
    t.ok(running.sink.refusals.length > 0, 'the foreign bytes are among the dead letters');
  }
});

t.test('a TLS sender on the plain port is named', async (t) => {
  const running = await startReceiver(t, 'gelf_tcp');
  const socket = connect({ port: running.port, host: '127.0.0.1', rejectUnauthorized: false });
  socket.on('error', () => {});
  t.match(await diagnosed(running, 'tls_on_plain_port'), { cure: /Enable tls/ });
  socket.destroy();
  await once(socket, 'close');
});

t.test('foreign datagrams are named', async (t) => {
  const running = await startReceiver(t, 'gelf_udp');
  await sendOverUdp(running.port, ['<13>Oct 11 22:14:15 host su: hello', deflateRawSync(longText)]);
  await diagnosed(running, 'syslog_on_gelf_port');
  t.match(await diagnosed(running, 'unknown_compression'), { cure: /gzip or zlib/ });
});

t.test('lines are rate-limited by sender and by kind, counters are not', async (t) => {
  let time = 0;
  let lines = 0;
  const log = Object.assign(Object.create(silentLog) as typeof silentLog, {
    warn: () => {
      lines += 1;
    },
  });
  const registry = new Registry();
  const diagnoser = createDiagnoser('r', log, registry, () => time);
  for (let index = 0; index < 10; index += 1) diagnoser.report('two_documents', `10.0.0.1:${1000 + index}`);
  t.equal(lines, 1);
  for (let index = 0; index < 100; index += 1) diagnoser.report('two_documents', `10.0.1.${index}:1`);
  t.equal(lines, 20);
  time = 60_000;
  diagnoser.report('two_documents', '10.0.0.1:5');
  t.equal(lines, 21);
  t.match(await registry.getSingleMetricAsString('sluice_diagnoses_made_total'), /diagnosis="two_documents"\} 111/);
});

t.test('every diagnosis says what was found and what to do', (t) => {
  for (const [name, { finding, cure }] of Object.entries(diagnoses))
    t.ok(finding.endsWith('.') && cure.endsWith('.'), name);
  t.end();
});
