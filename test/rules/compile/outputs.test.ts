import t from 'tap';
import { compiled, problemsOf } from '../support.js';

const output = { id: 'siem', type: 'syslog', host: 'siem.example', port: 514 };

t.test('defaults are filled in, and streams of both sides joined', async (t) => {
  const [made] =
    compiled({
      streams: [{ id: 'a', outputs: ['siem'] }, { id: 'b' }],
      outputs: [{ ...output, streams: ['b', 'all-messages'] }],
    }).outputs ?? [];
  t.match(made, {
    id: 'siem',
    title: 'siem',
    protocol: 'tcp',
    enabled: true,
    streams: ['a', 'all-messages', 'b'],
    on_full: 'hold',
    tls: { enabled: false },
    syslog: { format: 'rfc5424', framing: 'octet_counting' },
  });
  t.match(
    compiled({ outputs: [{ ...output, tls: { ca_file: 'ca.pem' }, max_waiting: '2 GB', max_age: 'P1D' }] }).outputs,
    [{ tls: { enabled: true, verify: true }, max_waiting_bytes: 2e9, max_age_ms: 86_400_000 }],
  );
});

t.test('a later file changes what it names', async (t) => {
  const first = 'outputs: [{id: siem, type: syslog, host: old, port: 514}]';
  t.match(problemsOf(first, 'outputs: [{id: siem, host: new}]'), []);
});

t.test('what is wrong is refused with its place', async (t) => {
  const cases: readonly [yaml: string, line: number, message: RegExp][] = [
    ['outputs:\n  - {id: x, type: gelf, port: 1}', 2, /`host` is missing/],
    ['outputs:\n  - {id: x, type: sislog, host: h, port: 1}', 2, /none of those allowed/],
    ['outputs:\n  - {id: x, type: syslog, host: h, port: 1,\n     protocol: http}', 3, /no HTTP/],
    ['outputs:\n  - {id: x, type: gelf, host: "http://h", port: 1}', 2, /no host/],
    ['outputs:\n  - {id: x, type: gelf, host: h, port: 70000}', 2, /<= 65535/],
    ['outputs:\n  - {id: x, type: gelf, host: h, port: 1, streams: [alle-messages]}', 2, /no stream of this id/],
    [
      'streams: [{id: s, outputs: [y]}]\noutputs:\n  - {id: x, type: gelf, host: h, port: 1}',
      1,
      /no output of this id/,
    ],
    [
      'outputs:\n  - {id: x, type: gelf, host: h, port: 1, gelf: {datagram_bytes: 500}}',
      2,
      /takes no `datagram_bytes`/,
    ],
    ['outputs:\n  - {id: x, type: gelf, host: h, port: 1, gelf: {compression: gzip}}', 2, /cannot be compressed/],
    ['outputs:\n  - {id: x, type: gelf, host: h, port: 1, syslog: {}}', 2, /takes no `syslog`/],
    ['outputs:\n  - {id: x, type: gelf, protocol: udp, host: h, port: 1, tls: {}}', 2, /takes no `tls`/],
    ['outputs:\n  - {id: x, type: gelf, host: h, port: 1, tls: {cert_file: c.pem}}', 2, /both/],
    ['outputs:\n  - {id: x, type: gelf, protocol: http, host: h, port: 1, gelf: {token: secret}}', 2, /does not fit/],
    ['outputs:\n  - {id: x, type: gelf, host: h, port: 1, max_age: 3 days}', 2, /no duration/],
    ['outputs:\n  - {id: x, type: gelf, host: h, port: 1, unconfirmed_bytes: 10}', 2, /no usable size/],
    ['outputs:\n  - {id: x, type: gelf, host: h, port: 1, protokol: tcp}', 2, /means nothing here/],
  ];
  for (const [yaml, line, message] of cases) {
    const [problem, ...more] = problemsOf(yaml);
    t.match(problem, { line, message }, yaml);
    t.same(more, [], yaml);
  }
});
