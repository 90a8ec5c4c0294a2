import t, { type Test } from 'tap';
import type { DecodeContext } from '../../gelf/contract.js';
import { createDecoder } from '../../gelf/decoder.js';
import type { LogDocument } from '../../schemas/messages.js';

const receivedAt = Date.UTC(2026, 0, 2, 3, 4, 5, 6);
const received = '2026-01-02T03:04:05.006Z';
const context: DecodeContext = { receiver: 'gelf-tcp', peer: '10.0.0.7:51312', receivedAt, timestamp: 'sender' };
const decoder = createDecoder();

function decode(text: string | Buffer, changed: Partial<DecodeContext> = {}): LogDocument {
  const parsed = decoder.parse(Buffer.from(text));
  if ('error' in parsed) throw parsed.error;
  return decoder.toDocument(parsed, { ...context, ...changed });
}

const always = {
  source: 'h',
  message: 'x',
  timestamp: received,
  receive_time: received,
  receiver: 'gelf-tcp',
  peer_address: '10.0.0.7',
};

/** What the members add to the fields that are always there. */
interface Case {
  readonly title: string;
  readonly json: string;
  readonly adds: Readonly<Record<string, unknown>>;
}

function check(t: Test, cases: readonly Case[]): void {
  for (const { title, json, adds } of cases) {
    t.strictSame(
      decode(`{"host":"h","short_message":"x"${json === '' ? '' : `,${json}`}}`),
      { ...always, ...adds },
      title,
    );
  }
}

t.test('the full sample of the reference decoder', async (t) => {
  const document =
    decode(`{"version":"1.1","host":"example.org","short_message":"A short message","full_message":"Backtrace here\\n\\nmore stuff","timestamp":1385053862.3072,
    "level":1,"_user_id":9001,"_some_info":"foo","_some_env_var":"bar"}`);
  t.strictSame(document, {
    source: 'example.org',
    message: 'A short message',
    full_message: 'Backtrace here\n\nmore stuff',
    timestamp: '2013-11-21T17:11:02.307Z',
    level: 1,
    user_id: 9001,
    some_info: 'foo',
    some_env_var: 'bar',
    receive_time: received,
    receiver: 'gelf-tcp',
    peer_address: '10.0.0.7',
  });
});

t.test('source and message', async (t) => {
  t.match(decode('{"short_message":"x"}'), { source: '10.0.0.7' });
  t.match(decode('{"short_message":"x"}', { peer: '[fe80::1]:514' }), { source: 'fe80::1', peer_address: 'fe80::1' });
  t.match(decode('{"short_message":"x"}', { peer: '' }), { source: 'unknown' });
  t.match(decode('{"host":" h ","short_message":" x\\n"}'), { source: 'h', message: 'x' });
  t.strictSame(decode('{"host":"h","message":"x"}'), always);
  t.strictSame(decode('{"host":"h","short_message":"","message":"x"}'), always);
  t.match(decode(Buffer.from([...Buffer.from('{"short_message":"a'), 0xff, ...Buffer.from('b"}')])), {
    message: 'a\uFFFDb',
  });
  check(t, [
    { title: 'version is not kept, _version is', json: '"version":"1.1","_version":"3.11"', adds: { version: '3.11' } },
    { title: 'a _message that says the same is not doubled', json: '"_message":"x"', adds: {} },
    {
      title: 'a message beside the short_message',
      json: '"message":"other"',
      adds: { sender_message: 'other', adjustments: ['message kept as sender_message'] },
    },
  ]);
});

t.test('the kinds of values', async (t) => {
  check(t, [
    { title: 'booleans', json: '"_yes":true,"_no":false', adds: { yes: true, no: false } },
    {
      title: 'numbers',
      json: '"_int":42,"_float":2001.1002,"_negative":-1,"_zero":0',
      adds: { int: 42, float: 2001.1002, negative: -1, zero: 0 },
    },
    { title: 'null', json: '"_a":null', adds: {} },
    { title: 'strings are trimmed, empty ones are not kept', json: '"_a":" b ","_c":"","_d":"  "', adds: { a: 'b' } },
    {
      title: 'containers as JSON text',
      json: '"_a":["x", 1],"_b":{ "c": null, "d": 1.10 }',
      adds: { a: '["x",1]', b: '{"c":null,"d":1.10}' },
    },
    {
      title: 'exact numbers within containers',
      json: '"_a":[12345678901234567890]',
      adds: { a: '[12345678901234567890]' },
    },
    {
      title: 'control characters within containers of a lenient message',
      json: '"_a":["b\tc",],',
      adds: { a: '["b\\tc"]' },
    },
    { title: 'a name without underscore', json: '"a":1', adds: { a: 1 } },
    {
      title: 'dots and hyphens in names',
      json: '"_labels_app.kubernetes.io_name":"pay","_an.add-field_int":1',
      adds: { 'labels_app.kubernetes.io_name': 'pay', 'an.add-field_int': 1 },
    },
  ]);
});

t.test('half a character, which no store can hold, is replaced and said', async (t) => {
  check(t, [
    {
      title: 'a lone surrogate',
      json: '"_a":"x\\ud800y"',
      adds: { a: 'x\uFFFDy', adjustments: ['a held half a character, replaced by U+FFFD'] },
    },
    { title: 'a pair', json: '"_a":"\\ud83d\\ude00"', adds: { a: '\u{1F600}' } },
    { title: 'NUL', json: '"_a":"x\\u0000y"', adds: { a: 'x\u0000y' } },
  ]);
});

t.test('integers beyond what a double holds keep their digits', async (t) => {
  const kept = (name: string) => [`_${name} is beyond what a number field holds, kept exactly as ${name}_text`];
  check(t, [
    { title: '2^53 itself', json: '"_a":9007199254740992', adds: { a: 9007199254740992 } },
    {
      title: '2^53 + 1',
      json: '"_a":9007199254740993',
      adds: { a: 9007199254740992, a_text: '9007199254740993', adjustments: kept('a') },
    },
    {
      title: 'a negative one',
      json: '"_a":-12345678901234567890',
      adds: { a: -12345678901234567000, a_text: '-12345678901234567890', adjustments: kept('a') },
    },
    { title: 'more than a double can be', json: '"_a":1e400', adds: { a_text: '1e400', adjustments: kept('a') } },
    { title: 'a large double', json: '"_a":1e300', adds: { a: 1e300 } },
    {
      title: 'the last of duplicate names',
      json: '"_a":1,"_a":9007199254740993',
      adds: { a: 9007199254740992, a_text: '9007199254740993', adjustments: kept('a') },
    },
  ]);
});

t.test('timestamps', async (t) => {
  const unusable = 'timestamp not usable, kept as timestamp_text; the receive time stands in';
  const at = (timestamp: string, ...adjustments: string[]) => ({
    timestamp,
    ...(adjustments.length > 0 ? { adjustments } : {}),
  });
  const cases: readonly (readonly [json: string, adds: Readonly<Record<string, unknown>>])[] = [
    ['1500646980.661', at('2017-07-21T14:23:00.661Z')],
    ['"1500646980.661"', at('2017-07-21T14:23:00.661Z')],
    ['" 1.5E9 "', at('2017-07-14T02:40:00.000Z')],
    ['1767323045', at('2026-01-02T03:04:05.000Z')],
    ['1767323045.9996', at('2026-01-02T03:04:06.000Z')],
    ['4102444800', at('2100-01-01T00:00:00.000Z')],
    ['253402300799', at('9999-12-31T23:59:59.000Z')],
    ['1767323045678', at('2026-01-02T03:04:05.678Z', 'timestamp read as milliseconds')],
    ['"1767323045678"', at('2026-01-02T03:04:05.678Z', 'timestamp read as milliseconds')],
    [
      '1767323045678901',
      {
        ...at('2026-01-02T03:04:05.679Z', 'timestamp read as microseconds'),
        timestamp_text: (1767323045678901).toString(),
      },
    ],
    [
      '1767323045678901234',
      { ...at('2026-01-02T03:04:05.679Z', 'timestamp read as nanoseconds'), timestamp_text: '1767323045678901234' },
    ],
    ['"2026-01-02T03:04:05.678Z"', at('2026-01-02T03:04:05.678Z')],
    ['"2026-01-02T05:04:05+02:00"', at('2026-01-02T03:04:05.000Z')],
    ['"2026-01-02 05:04:05,5 +0200"', at('2026-01-02T03:04:05.500Z')],
    [
      '"2026-01-02T03:04:05.678901234Z"',
      { ...at('2026-01-02T03:04:05.679Z'), timestamp_text: '2026-01-02T03:04:05.678901234Z' },
    ],
    ['"2026-01-02T03:04:05"', at('2026-01-02T03:04:05.000Z', 'timestamp read as UTC')],
    ['"Foobar"', { ...at(received, unusable), timestamp_text: 'Foobar' }],
    ['"0x10"', { ...at(received, unusable), timestamp_text: '0x10' }],
    ['"1,5"', { ...at(received, unusable), timestamp_text: '1,5' }],
    ['"2026-02-30T00:00:00Z"', { ...at(received, unusable), timestamp_text: '2026-02-30T00:00:00Z' }],
    ['0', { ...at(received, unusable), timestamp_text: '0' }],
    ['-5', { ...at(received, unusable), timestamp_text: '-5' }],
    [
      '1000000000000000000000000000000',
      { ...at(received, unusable), timestamp_text: '1000000000000000000000000000000' },
    ],
    ['true', { ...at(received, unusable), timestamp_text: 'true' }],
    ['{"a": 1}', { ...at(received, unusable), timestamp_text: '{"a":1}' }],
    ['null', {}],
    ['""', {}],
  ];
  check(
    t,
    cases.map(([json, adds]) => ({ title: json, json: `"timestamp":${json}`, adds })),
  );
  check(t, [
    {
      title: '_timestamp never decides',
      json: '"_timestamp":1500646980',
      adds: { sender_timestamp: 1500646980, adjustments: ['_timestamp kept as sender_timestamp'] },
    },
  ]);
});

t.test("timestamp: received takes the receive time and keeps the sender's", async (t) => {
  t.strictSame(decode('{"host":"h","short_message":"x","timestamp":1500646980.661}', { timestamp: 'received' }), {
    ...always,
    sender_timestamp: '2017-07-21T14:23:00.661Z',
  });
  t.match(decode('{"host":"h","short_message":"x","timestamp":"Foobar"}', { timestamp: 'received' }), {
    timestamp: received,
    timestamp_text: 'Foobar',
  });
});

t.test('levels', async (t) => {
  const bad = (text: string) => ({ level_text: text, adjustments: ['level is no level, kept as level_text'] });
  const cases: readonly (readonly [json: string, adds: Readonly<Record<string, unknown>>])[] = [
    ['3', { level: 3 }],
    ['0', { level: 0 }],
    ['" 4 "', { level: 4 }],
    ['30', { level: 30 }],
    ['"error"', { level: 3, level_text: 'error' }],
    ['"WARN"', { level: 4, level_text: 'WARN' }],
    ['"Information"', { level: 6, level_text: 'Information' }],
    ['"fatal"', { level: 1, level_text: 'fatal' }],
    ['"emerg"', { level: 0, level_text: 'emerg' }],
    ['"notice"', { level: 5, level_text: 'notice' }],
    ['"trace"', { level: 7, level_text: 'trace' }],
    ['7.9', { level: 7, level_text: '7.9' }],
    ['"7.9"', { level: 7, level_text: '7.9' }],
    ['"loud"', bad('loud')],
    ['-5', bad('-5')],
    ['2147483648', bad('2147483648')],
    ['[3]', bad('[3]')],
    ['true', bad('true')],
    ['null', {}],
    ['""', {}],
  ];
  check(
    t,
    cases.map(([json, adds]) => ({ title: json, json: `"level":${json}`, adds })),
  );
  check(t, [
    { title: '_level stands in for level', json: '"_level":"error"', adds: { level: 3, level_text: 'error' } },
    {
      title: '_level beside level',
      json: '"level":6,"_level":3',
      adds: { level: 6, sender_level: 3, adjustments: ['_level kept as sender_level'] },
    },
    { title: 'the same _level', json: '"level":6,"_level":6', adds: { level: 6 } },
  ]);
});

t.test('full_message, facility, file and line', async (t) => {
  check(t, [
    {
      title: 'as GELF says',
      json: '"full_message":"f","facility":"a","file":"x.c","line":42',
      adds: { full_message: 'f', facility: 'a', file: 'x.c', line: 42 },
    },
    {
      title: 'texts of other types',
      json: '"full_message":{"a": 1},"facility":5,"file":true',
      adds: { full_message: '{"a":1}', facility: '5', file: 'true' },
    },
    { title: 'null and empty', json: '"full_message":null,"facility":"","file":null,"line":null', adds: {} },
    { title: 'line as text', json: '"line":"42"', adds: { line: 42 } },
    {
      title: 'line that is no number',
      json: '"line":"top"',
      adds: { line_text: 'top', adjustments: ['line is no number, kept as line_text'] },
    },
    {
      title: 'underscored ones fill the gaps',
      json: '"_full_message":"f","_facility":"a"',
      adds: { full_message: 'f', facility: 'a' },
    },
    {
      title: 'underscored ones beside them',
      json: '"facility":"a","_facility":"b"',
      adds: { facility: 'a', sender_facility: 'b', adjustments: ['_facility kept as sender_facility'] },
    },
  ]);
});

t.test("names that collide or are Sluice's own are kept as sender_", async (t) => {
  const kept = (key: string, name: string) => `${key} kept as ${name}`;
  check(t, [
    {
      title: 'host of an ingress line',
      json: '"_host":"shop.example"',
      adds: { sender_host: 'shop.example', adjustments: [kept('_host', 'sender_host')] },
    },
    { title: '_host that says the same', json: '"_host":"h"', adds: {} },
    {
      title: 'source',
      json: '"source":"a","_source":"b"',
      adds: {
        sender_source: 'a',
        sender_source_1: 'b',
        adjustments: [kept('source', 'sender_source'), kept('_source', 'sender_source_1')],
      },
    },
    {
      title: 'own names',
      json: '"_streams":"s","receive_time":"t","_receiver":1,"_peer_address":"p","_adjustments":["a"]',
      adds: {
        sender_streams: 's',
        sender_receive_time: 't',
        sender_receiver: 1,
        sender_peer_address: 'p',
        sender_adjustments: '["a"]',
        adjustments: [
          '_streams kept as sender_streams',
          'receive_time kept as sender_receive_time',
          '_receiver kept as sender_receiver',
          '_peer_address kept as sender_peer_address',
          '_adjustments kept as sender_adjustments',
        ],
      },
    },
    { title: '_id is the field id', json: '"_id":"7"', adds: { id: '7' } },
    {
      title: '__id and __index',
      json: '"__id":"7","__index":"i"',
      adds: {
        sender__id: '7',
        sender__index: 'i',
        adjustments: [kept('__id', 'sender__id'), kept('__index', 'sender__index')],
      },
    },
    { title: 'a and _a', json: '"a":1,"_a":2', adds: { a: 2, sender_a: 1, adjustments: [kept('a', 'sender_a')] } },
    { title: 'a and _a alike', json: '"a":1,"_a":1', adds: { a: 1 } },
    {
      title: 'a twin whose name is taken',
      json: '"_a":9007199254740993,"_a_text":"mine"',
      adds: {
        a: 9007199254740992,
        a_text: 'mine',
        sender_a_text: '9007199254740993',
        adjustments: [
          '_a kept as sender_a_text',
          '_a is beyond what a number field holds, kept exactly as sender_a_text',
        ],
      },
    },
  ]);
});

t.test('odd names lose nothing', async (t) => {
  const renamed = (key: string, name: string) => `${key} renamed to ${name}`;
  check(t, [
    { title: 'other characters', json: '"_a b/c":1', adds: { a_b_c: 1, adjustments: [renamed('_a b/c', 'a_b_c')] } },
    {
      title: 'another script',
      json: '"_имя":1,"_год":2',
      adds: { ___: 1, sender____: 2, adjustments: [renamed('_имя', '___'), '_год kept as sender____'] },
    },
    { title: 'two underscores', json: '"__x":1', adds: { _x: 1 } },
    { title: 'an underscore', json: '"_":1', adds: { _: 1 } },
    { title: 'nothing', json: '"":1', adds: { _: 1, adjustments: [renamed('', '_')] } },
    { title: 'an underscore and a space', json: '"_ ":1', adds: { _: 1 } },
    {
      title: 'dots that leave a part empty',
      json: '"_.a":1,"_b.":2,"_c..d":3',
      adds: {
        _a: 1,
        b_: 2,
        'c_.d': 3,
        adjustments: [renamed('_.a', '_a'), renamed('_b.', 'b_'), renamed('_c..d', 'c_.d')],
      },
    },
    {
      title: 'names that every JavaScript object has',
      json: '"_constructor":"c","_toString":"t","_hasOwnProperty":"o"',
      adds: { constructor: 'c', toString: 't', hasOwnProperty: 'o' },
    },
    { title: '__proto__', json: '"__proto__":"a"', adds: { _proto__: 'a' } },
    {
      title: 'what would become __proto__',
      json: '"___proto__":"a"',
      adds: { sender___proto__: 'a', adjustments: ['___proto__ kept as sender___proto__'] },
    },
  ]);
  const document = decode(`{"short_message":"x","_${'n'.repeat(300)}":1}`);
  t.equal(document['n'.repeat(256)], 1);
  t.match(document['adjustments'], [/^_n+\.\.\. renamed to n+$/]);
  t.equal(
    Object.getPrototypeOf(decode('{"short_message":"x","__proto__":{"polluted":1},"___proto__":{"a":1}}')),
    Object.prototype,
  );
});

t.test('adjustments are bounded, and a flood of odd names takes linear time', async (t) => {
  const started = process.cpuUsage();
  const flood = Array.from(
    { length: 20_000 },
    (_, index) => `"_${'?'.repeat(1 + (index % 50))}${String.fromCodePoint(0x4e00 + index)}":${index}`,
  ).join(',');
  const document = decode(`{"host":"h","short_message":"x",${flood}}`);
  t.equal(Object.keys(document).length, 6 + 20_000 + 1);
  const adjustments = document['adjustments'] as readonly string[];
  t.equal(adjustments.length, 51);
  t.equal(adjustments.at(-1), 'and 19950 more');
  t.ok(process.cpuUsage(started).user < 3e6);
});
