import t from 'tap';
import { createDecoder } from '../../gelf/decoder.js';

const decoder = createDecoder();

function parse(
  input: string | Buffer,
): { readonly code: string; readonly text: string } | { readonly root: unknown; readonly extraDocuments: boolean } {
  const parsed = decoder.parse(Buffer.isBuffer(input) ? input : Buffer.from(input));
  return 'error' in parsed
    ? { code: parsed.error.code, text: parsed.error.message }
    : { root: parsed.root, extraDocuments: parsed.extraDocuments };
}

t.test('what real senders send is accepted', async (t) => {
  const accepted: readonly (readonly [title: string, input: string | Buffer])[] = [
    ['the smallest message', '{"short_message":"0"}'],
    ['message instead of short_message', '{"message":"0"}'],
    ['no host', '{"short_message":"x"}'],
    ['a null host', '{"short_message":"x","host":null}'],
    ['a blank short_message beside a message', '{"short_message":" ","message":"x"}'],
    ['a null short_message beside a message', '{"short_message":null,"message":"x"}'],
    ['any version', '{"version":"9.9","short_message":"x"}'],
    ['a trailing comma', '{"short_message":"x",}'],
    ['trailing commas within', '{"short_message":"x","_a":[1,2,],"_b":{"c":1,},}'],
    ['raw control characters in a string', '{"short_message":"a\tb\nc\u0001"}'],
    ['a byte order mark', '\uFEFF{"short_message":"x"}'],
    ['a trailing NUL', '{"short_message":"x"}\0'],
    ['a trailing NUL and newline', '{"short_message":"x"}\0\n'],
    ['white space around', ' \r\n{"short_message":"x"}\n '],
    ['duplicate names, of which the last counts', '{"short_message":"y","short_message":"x"}'],
    ['a lone surrogate', '{"short_message":"\\ud800"}'],
    ['an escaped NUL', '{"short_message":"a\\u0000"}'],
    ['bytes that are not UTF-8', Buffer.from([...Buffer.from('{"short_message":"'), 0xff, 0xfe, ...Buffer.from('"}')])],
    ['an unusable timestamp', '{"short_message":"x","timestamp":"Foobar"}'],
    ['nesting of 900 levels', `{"short_message":"x","_a":${'['.repeat(899)}${']'.repeat(899)}}`],
  ];
  for (const [title, input] of accepted) t.match(parse(input), { extraDocuments: false }, title);
});

t.test('what is no message is refused with its reason', async (t) => {
  const refused: readonly (readonly [title: string, input: string, code: string])[] = [
    ['nothing', '', 'DECODE_EMPTY'],
    ['white space', ' \n\0', 'DECODE_EMPTY'],
    ['text', 'hello', 'DECODE_JSON_INVALID'],
    ['a cut message', '{"short_message":"x"', 'DECODE_JSON_INVALID'],
    ['a cut string', '{"short_message":"x', 'DECODE_JSON_INVALID'],
    ['a comma without a field', '{,}', 'DECODE_JSON_INVALID'],
    ['two commas', '{"short_message":"x",,}', 'DECODE_JSON_INVALID'],
    ['single quotes', "{'short_message':'x'}", 'DECODE_JSON_INVALID'],
    ['an unquoted name', '{short_message:"x"}', 'DECODE_JSON_INVALID'],
    ['a comment', '{"short_message":"x"/* */}', 'DECODE_JSON_INVALID'],
    ['NaN', '{"short_message":"x","_a":NaN}', 'DECODE_JSON_INVALID'],
    ['a leading zero', '{"short_message":"x","_a":007}', 'DECODE_JSON_INVALID'],
    ['a leading plus', '{"short_message":"x","_a":+7}', 'DECODE_JSON_INVALID'],
    ['a bad escape', '{"short_message":"\\x"}', 'DECODE_JSON_INVALID'],
    ['text behind the message', '{"short_message":"x"}xyz', 'DECODE_JSON_INVALID'],
    [
      'nesting of 1,001 levels',
      `{"short_message":"x","_a":${'['.repeat(1000)}${']'.repeat(1000)}}`,
      'DECODE_JSON_TOO_DEEP',
    ],
    ['unclosed nesting of a million levels', '['.repeat(1_000_000), 'DECODE_JSON_TOO_DEEP'],
    [
      'lenient nesting of 1,001 levels',
      `{"short_message":"x","_a":${'['.repeat(1000)}${']'.repeat(1000)},}`,
      'DECODE_JSON_TOO_DEEP',
    ],
    ['null', 'null', 'DECODE_ROOT_NOT_OBJECT'],
    ['an array', '[{"short_message":"x"}]', 'DECODE_ROOT_NOT_OBJECT'],
    ['a string', '"x"', 'DECODE_ROOT_NOT_OBJECT'],
    ['a number', '42', 'DECODE_ROOT_NOT_OBJECT'],
    ['a boolean', 'true', 'DECODE_ROOT_NOT_OBJECT'],
    ['a host that is a number', '{"host":42,"short_message":"x"}', 'DECODE_HOST_INVALID'],
    ['an empty host', '{"host":"","short_message":"x"}', 'DECODE_HOST_INVALID'],
    ['a blank host', '{"host":"  ","short_message":"x"}', 'DECODE_HOST_INVALID'],
    ['a host only', '{"host":"h"}', 'DECODE_MESSAGE_MISSING'],
    ['a null short_message', '{"short_message":null}', 'DECODE_MESSAGE_MISSING'],
    ['an empty short_message', '{"short_message":""}', 'DECODE_MESSAGE_BLANK'],
    ['a blank short_message', '{"short_message":" \\n "}', 'DECODE_MESSAGE_BLANK'],
    ['a blank message', '{"message":" "}', 'DECODE_MESSAGE_BLANK'],
    ['a short_message that is a number', '{"short_message":42}', 'DECODE_MESSAGE_INVALID'],
    [
      'a short_message that is a number beside a message',
      '{"short_message":42,"message":"x"}',
      'DECODE_MESSAGE_INVALID',
    ],
    ['a message that is a number', '{"message":42}', 'DECODE_MESSAGE_INVALID'],
    ['a message that is an object', '{"message":{"a":1}}', 'DECODE_MESSAGE_INVALID'],
    ['_message only', '{"_message":"x"}', 'DECODE_MESSAGE_MISSING'],
  ];
  for (const [title, input, code] of refused) t.match(parse(input), { code }, title);
});

t.test('an error says where, what came and what is allowed', async (t) => {
  t.match(parse('{"short_message":"x" "host":"h"}'), {
    text: 'character 22: The message is not valid JSON. Got "\\"host\\":\\"h\\"}". Allowed: a comma or }.',
  });
  t.match(parse('{"host":42,"short_message":"x"}'), { text: /host: .* Got 42\. Allowed: a text that is not blank/ });
  t.match(parse('{"short_message":"x"'), { text: /Got the end of the message/ });
});

t.test('of several documents the first is taken, and the others are told', async (t) => {
  const one = '{"short_message":"1"}';
  for (const input of [`${one}{"short_message":"2"}`, `${one}\n${one}\n${one}\n`, `${one}\0${one}`, `${one} [1]`]) {
    t.same(parse(input), { root: { short_message: '1' }, extraDocuments: true });
  }
});

t.test('long text that cannot be an object is refused by its beginning, as short text is', async (t) => {
  for (const input of [
    'a'.repeat(2 ** 20),
    `1${'2'.repeat(2 ** 18)}`,
    `nul${'l'.repeat(2 ** 18)}`,
    `<11>${'x'.repeat(2 ** 18)}`,
  ]) {
    const found = parse(input);
    t.match(found, { code: /^DECODE_(JSON_INVALID|ROOT_NOT_OBJECT)$/ }, input.slice(0, 10));
    t.match(parse(input.slice(0, 300)), { code: 'code' in found ? found.code : '' }, input.slice(0, 10));
  }
  t.match(parse('x'.repeat(2 ** 20)), { text: /^character 1: .* Allowed: a JSON value/ });
});

t.test('a message of very many fields says so, and is no other message for it', async (t) => {
  const message = (fields: number, value: string) =>
    Buffer.from(`{"short_message":"x",${Array.from({ length: fields }, (_, at) => `"_f${at}":"${value}"`).join(',')}}`);
  const many = decoder.parse(message(2_000, 'some text'));
  const few = decoder.parse(message(900, 'some longer text than that one'));
  t.ok('root' in many && many.manyFields === true && Object.keys(many.root).length === 2_001);
  t.ok('root' in few && few.manyFields === undefined);
});

t.test('refusing deep or broken input takes linear time', async (t) => {
  const started = process.cpuUsage();
  for (const input of [
    '['.repeat(2 ** 20),
    `{"short_message":"${'\\"'.repeat(2 ** 19)}`,
    `{"a":[${'1,'.repeat(2 ** 18)}`,
    `{"short_message":"x",${'"a":1,'.repeat(2 ** 16)}}`,
    `${' '.repeat(2 ** 20)}x`,
    `{"short_message":"x"}${'\0'.repeat(2 ** 20)}x`,
  ])
    parse(input);
  t.ok(process.cpuUsage(started).user < 4e6);
});
