import fc from 'fast-check';
import t from 'tap';
import {
  createSyslogDatagramEncoder,
  createSyslogMessages,
  createSyslogStreamEncoder,
} from '../../../sinks/outputs/syslog/encoder.js';
import type { LogDocument } from '../../../schemas/messages.js';
import { outputOf, recordOf } from './settings.js';

const syslog = (settings: Readonly<Record<string, unknown>> = {}, protocol = 'tcp') =>
  outputOf({ type: 'syslog', protocol, syslog: settings }).syslog;
const ignore = (): void => undefined;
const lines = (settings: Readonly<Record<string, unknown>>, document: LogDocument): readonly string[] =>
  createSyslogMessages(syslog(settings), ignore)(document);

const document: LogDocument = {
  source: 'web-1.example',
  message: 'GET / 200',
  timestamp: '2026-11-21T15:04:05.123Z',
  level: 3,
  facility: 'local4',
  container_name: 'nginx',
  namespace_name: 'shop',
  bytes: 512,
  ok: true,
  receive_time: '2026-11-21T15:04:06.000Z',
  receiver: 'gelf-tcp',
  peer_address: '10.0.0.1',
  streams: ['all-messages'],
  rule_set_version: 'x',
};

t.test('golden lines', async (t) => {
  process.env['TZ'] = 'UTC';
  const cases: readonly [
    name: string,
    settings: Readonly<Record<string, unknown>>,
    document: LogDocument,
    wanted: string,
  ][] = [
    [
      'RFC 5424 with structured data',
      {},
      document,
      '<163>1 2026-11-21T15:04:05.123Z web-1.example nginx - - [gelf@32473 namespace_name="shop" bytes="512" ok="true"] GET / 200',
    ],
    [
      'without structured data',
      { structured_data: 'none' },
      document,
      '<163>1 2026-11-21T15:04:05.123Z web-1.example nginx - - - GET / 200',
    ],
    [
      'chosen fields only',
      { structured_data: ['bytes', 'absent'], structured_data_id: 'app@1' },
      document,
      '<163>1 2026-11-21T15:04:05.123Z web-1.example nginx - - [app@1 bytes="512"] GET / 200',
    ],
    [
      'other fields for the header',
      {
        host_field: 'namespace_name',
        application_field: 'bytes',
        process_id_field: 'ok',
        message_id_field: 'facility',
        message_field: 'source',
        facility_field: '',
        severity_field: '',
        structured_data: 'none',
      },
      document,
      '<13>1 2026-11-21T15:04:05.123Z shop 512 true local4 - web-1.example',
    ],
    ['nothing but a text', {}, { message: 'x' }, '<13>1 - - sluice - - - x'],
    [
      'special characters in structured data',
      { structured_data: ['a b', 'q'] },
      { message: 'm', 'a b': 'x"y\\z]', q: 'two\nlines' },
      '<13>1 - - sluice - - [gelf@32473 a_b="x\\"y\\\\z\\]" q="two\\\\nlines"] m',
    ],
    [
      'control characters in the text',
      {},
      { message: 'one\n<13>1 - forged\r\0\u001b[0m\u2028\tend' },
      '<13>1 - - sluice - - - one\\n<13>1 - forged\\r\\0\\x1b[0m\\u2028\tend',
    ],
    [
      'spaces and other scripts in header fields',
      {},
      { message: 'm', source: ' my höst ', container_name: 'a b' },
      '<13>1 - my_h_st a_b - - - m',
    ],
    [
      'levels beyond 7 and facilities beyond 23',
      {},
      { message: 'm', level: 9, facility: '99' },
      '<15>1 - - sluice - - - m',
    ],
    [
      'a facility as a number, a level as a text',
      {},
      { message: 'm', level: '2', facility: '16' },
      '<130>1 - - sluice - - - m',
    ],
    [
      'a byte order mark before text that is not ASCII',
      { byte_order_mark: true },
      { message: 'grün' },
      '<13>1 - - sluice - - - \ufeffgrün',
    ],
    ['RFC 3164', { format: 'rfc3164' }, document, '<163>Nov 21 15:04:05 web-1.example nginx: GET / 200'],
    [
      'RFC 3164 with a process id and an early day',
      { format: 'rfc3164', process_id_field: 'bytes' },
      { ...document, timestamp: '2026-02-03T01:02:03.000Z', container_name: 'a:[b]' },
      '<163>Feb  3 01:02:03 web-1.example a__b_[512]: GET / 200',
    ],
  ];
  for (const [name, settings, given, wanted] of cases) t.same(lines(settings, given), [wanted], name);
});

t.test('framing', async (t) => {
  const context = { documentOf: () => ({ message: 'grün' }), overLong: ignore };
  const bytesOf = (framing: string): string =>
    createSyslogStreamEncoder(syslog({ framing }), context)
      .encode([recordOf('{}'), recordOf('{}', 1)], 0)
      .parcel.parts[0]?.toString() ?? '';
  const message = '<13>1 - - sluice - - - grün';
  t.equal(
    bytesOf('octet_counting'),
    `${Buffer.byteLength(message)} ${message}`.repeat(2),
    'the length counts bytes, not characters',
  );
  t.equal(bytesOf('newline'), `${message}\n${message}\n`);
  const { parcel, to } = createSyslogDatagramEncoder(syslog({}, 'udp'), context).encode(
    [recordOf('{}'), recordOf('{}', 7)],
    0,
  );
  t.same(parcel.parts.map(String), [message, message], 'a datagram each');
  t.match({ to, parcel }, { to: 2, parcel: { messages: 2, nextOffset: 8 } });
});

t.test('over-long messages follow the setting and are counted', async (t) => {
  const text = 'ä'.repeat(2_000);
  const long: LogDocument = { ...document, message: text, full_message: 'f'.repeat(3_000) };
  for (const policy of ['truncate', 'split', 'drop'] as const) {
    const counts: Record<string, number> = {};
    const made = createSyslogMessages(syslog({ over_long: policy, max_bytes: 1_024 }), (kind, count) => {
      counts[kind] = (counts[kind] ?? 0) + count;
    })(long);
    t.ok(
      made.every((line) => Buffer.byteLength(line) <= 1_024 && !line.includes('\ufffd')),
      `${policy}: none is longer, no character is cut`,
    );
    t.ok(
      made.every((line) => /^<163>1 \S+ web-1\.example nginx - - (-|(\[\S+( \w+="[^"]*")*\])+) ä+$/.test(line)),
      `${policy}: each is a sound message`,
    );
    if (policy === 'truncate') t.same([made.length, counts], [1, { truncated: 1 }]);
    if (policy === 'drop') t.same([made.length, counts], [0, { dropped: 1 }]);
    if (policy !== 'split') continue;
    t.equal(
      made.map((line) => line.slice(line.lastIndexOf('] ') + 2)).join(''),
      text,
      'the pieces make the whole text',
    );
    t.match(made[1], `[split@32473 part="2" of="${made.length}"]`);
    t.same(counts, { split: 1 });
  }
});

t.test('whatever a message holds, it is one line and stays in its frame', async () => {
  const value = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 300 }),
    fc.constantFrom('\n', '\r\n<1>1 - - - - - -', '\u0085', '\u2029', '"] forged', '\\'),
    fc.integer(),
    fc.boolean(),
  );
  const documents = fc.dictionary(
    fc.oneof(
      fc.constantFrom('source', 'message', 'container_name', 'facility', 'level', 'timestamp'),
      fc.string({ unit: 'binary', maxLength: 20 }),
    ),
    value,
    { maxKeys: 12 },
  );
  const options = fc.record({
    format: fc.constantFrom('rfc5424', 'rfc3164'),
    over_long: fc.constantFrom('truncate', 'split'),
    max_bytes: fc.integer({ min: 480, max: 2_000 }),
    process_id_field: fc.constantFrom('', 'facility'),
  });
  fc.assert(
    fc.property(documents, options, (given, settings) => {
      for (const line of createSyslogMessages(syslog(settings), ignore)(given)) {
        if (/[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u2028\u2029]/.test(line))
          throw new Error(`a control character: ${JSON.stringify(line)}`);
        if (Buffer.byteLength(line) > settings.max_bytes)
          throw new Error(`${Buffer.byteLength(line)} bytes: ${JSON.stringify(line)}`);
        const header =
          settings.format === 'rfc5424'
            ? /^<\d{1,3}>1 \S+ \S+ \S+ \S+ \S+ (?:-|(?:\[[^ =\]"]+(?: [^ =\]"]+="(?:[^"\\\]]|\\.)*")*\])+) /
            : /^<\d{1,3}>[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \S+ [^\s:[\]]+(?:\[[^\s:[\]]+\])?: /;
        if (!header.test(line)) throw new Error(`no sound header: ${JSON.stringify(line)}`);
      }
    }),
    { numRuns: 3_000 },
  );
});
