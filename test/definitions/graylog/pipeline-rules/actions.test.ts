/** Statements of Graylog pipeline rules do what they do there. */
import t from 'tap';
import type { LogDocument } from '../../../../schemas/messages.js';
import { problemOf, ruleText, runRule } from './support.js';

const check = (then: string, before: LogDocument, after: LogDocument): void => {
  void t.test(then, async (t) => {
    t.strictSame(runRule(ruleText('true', then), before).document, after);
  });
};

check('set_field("a", "x");', {}, { a: 'x' });
check('set_field("a", 5);', { a: 'y' }, { a: 5 });
check('set_field("a", -1);', {}, { a: -1 });
check('set_field(field: "a", value: true);', {}, { a: true });
check('set_field("a", "");', { a: 'y' }, { a: 'y' });
check('set_field("a", $message.b);', { b: 7 }, { a: 7, b: 7 });
check('set_field("a", to_string($message.b));', { b: 7 }, { a: '7', b: 7 });
check('set_field("a", $message.b);', {}, {});
check('set_field("level", to_long($message.level));', { level: '3' }, { level: 3 });
check('set_field("a", to_long($message.level));', {}, { a: 0 });
check('set_field("a", replace(to_string($message.b), "/", "_"));', { b: 'a/b/c' }, { a: 'a_b_c', b: 'a/b/c' });
check('set_field("b", regex_replace("(\\\\d+)", to_string($message.b), "<$1>"));', { b: 'a1b22' }, { b: 'a<1>b<22>' });
check('set_field("b", regex_replace("\\\\d", to_string($message.b), "n", false));', { b: '12' }, { b: 'n2' });
check(
  'set_field("a", concat(to_string($message.b), concat("-", to_string($message.c))));',
  { b: 'x' },
  { a: 'x-', b: 'x' },
);
check('set_field("a", "<" + to_string($message.b) + ">");', { b: 'x' }, { a: '<x>', b: 'x' });
check(
  'let b = to_string($message.b); let a = "<" + b + ">"; set_field("a", a + a);',
  { b: 'x' },
  { a: '<x><x>', b: 'x' },
);
check('rename_field("a", "b");', { a: 'x' }, { b: 'x' });
check('remove_field("kubernetes");', { kubernetes: '{}', m: 'x' }, { m: 'x' });
check('remove_single_field("a"); remove_multiple_fields(names: ["b", "c"]);', { a: 1, b: 2, c: 3, d: 4 }, { d: 4 });
check(
  'set_fields(to_map(parse_json(to_string($message.labels))));',
  { labels: '{"a":"x","b":1}', a: 'old' },
  { labels: '{"a":"x","b":1}', a: 'x', b: 1 },
);
check(
  'let json = parse_json(to_string($message.labels)); set_fields(fields: to_map(json), prefix: "labels_");',
  { labels: '{"a":"x"}' },
  { labels: '{"a":"x"}', labels_a: 'x' },
);
check(
  'let l = regex_replace("/", to_string($message.labels), "_"); set_fields(to_map(parse_json(l))); remove_field("labels");',
  { labels: '{"a/b":"c/d"}' },
  { a_b: 'c_d' },
);
check(
  'set_fields(grok(pattern: "%{IP:client} %{NUMBER:size;int} %{WORD:UNWANTED}", value: to_string($message.m), only_named_captures: true));',
  { m: '192.0.2.7 42 x' },
  { m: '192.0.2.7 42 x', client: '192.0.2.7', size: 42 },
);
check(
  'set_fields(grok("%{WORD} %{WORD:b}", to_string($message.m)), "p_");',
  { m: 'x y' },
  { m: 'x y', p_WORD: 'x', p_b: 'y' },
);
check(
  'set_fields(regex("(\\\\w+)=(\\\\w+)", to_string($message.m), ["key", "value"]));',
  { m: 'a=b' },
  { m: 'a=b', key: 'a', value: 'b' },
);
check(
  'let m = regex("user=(?<u>\\\\w+) id=(\\\\d+)", to_string($message.m)); set_field("id", m["1"]); set_field("user-name", m["0"]);',
  { m: 'user=ann id=7' },
  { m: 'user=ann id=7', id: '7', 'user-name': 'ann' },
);
check('set_fields({ a: "x", "b": $message.c });', { c: 'y' }, { c: 'y', a: 'x', b: 'y' });
check(';;', { a: 'x' }, { a: 'x' });
check('set_field("a", "x"); set_field("b", $message.a);', {}, { a: 'x', b: 'x' });

t.test('routing, leaving the default stream, dropping', async (t) => {
  const streams = (then: string) => runRule(ruleText('true', then), { message: 'm' });
  t.strictSame(streams('route_to_stream("Audit logs");').streams, ['all-messages', 'audit']);
  t.strictSame(streams('route_to_stream(name: "Audit logs", remove_from_default: true);').streams, ['audit']);
  t.strictSame(streams('route_to_stream(id: "audit"); remove_from_stream(name: "Default Stream");').streams, ['audit']);
  t.strictSame(
    streams('remove_from_stream(id: "000000000000000000000001");').streams,
    ['all-messages'],
    'what no other stream keeps stays',
  );
  t.strictSame(
    streams(
      'route_to_stream(name: "Audit logs", remove_from_default: true); route_to_stream(id: "000000000000000000000001");',
    ).streams,
    ['all-messages', 'audit'],
  );
  t.equal(streams('drop_message(); set_field("a", "x");').dropped, true);
});

t.test('temporary fields are gone, also where a sender sent one', async (t) => {
  t.strictSame(
    runRule(ruleText('true', 'set_field("a", to_string($message.b) + "!");'), { sluice_rule_value_0: 'evil', b: 'x' })
      .document,
    { a: 'x!', b: 'x' },
  );
  t.strictSame(
    runRule(ruleText('true', 'set_field("a", to_string($message.none) + "!");'), { sluice_rule_value_0: 'evil' })
      .document,
    { a: '!' },
  );
});

t.test('what is not supported is refused by name and place, all of it at once', async (t) => {
  const refused = (then: string, wanted: RegExp): void => {
    t.match(problemOf(ruleText('true', then)), wanted, then);
  };
  refused('debug("x");', /^5:3 The function debug\(\) is not supported as a statement/);
  refused('set_field("a", "x");\n  clone_message();', /^6:3 The function clone_message\(\)/);
  refused('set_field("a", now());', /^5:18 This value is not supported/);
  refused('set_field("a", "x", "prefix");', /takes 2 arguments/);
  refused('set_field(field: "a", value: "x", suffix: "s");', /argument `suffix`/);
  refused('remove_field("labels.*");', /pattern of names is not supported/);
  refused('route_to_stream("Nothing");', /^5:19 There is no stream "Nothing"/);
  refused('route_to_stream();', /named by `name` or `id`/);
  refused('remove_from_stream(name: "Audit logs");', /Only the default stream/);
  refused('set_fields(select_jsonpath(parse_json("{}"), {a: "$.a"}));', /This map is not supported/);
  refused('set_fields(regex("(a)", to_string($message.m)));', /needs group_names/);
  refused('set_field("a", regex("(a)", to_string($message.m))["1"]);', /no group "1"/);
  refused('set_field("a", b);', /no variable b/);
  refused('set_fields(grok("(?<level>[A-Z]+) %{WORD:b}", to_string($message.m)));', /^5:19 A group with a name/);
  refused('let b = 1; let b = 2;', /set twice/);
  refused('let a = a;', /no variable a/);
  refused(
    'let b = $message.b; set_field("b", "new"); set_field("a", b);',
    /^5:61 The variable b reads a field that is written/,
  );
  refused('set_field("a", "${b}");', /cannot be written as it is/);
  refused('set_field("a", regex_replace("x", to_string($message.b), "$10"));', /Only \$0 to \$9/);
  refused('set_field("a", "x")', /Expected `;`/);
  refused('$message.a;', /Expected `let`, the call/);
  let doubling = 'let v0 = to_string($message.a);';
  for (let step = 1; step < 40; step += 1) doubling += ` let v${step} = v${step - 1} + v${step - 1};`;
  refused(`${doubling} set_field("b", v39);`, /More than 50 parts/);
  t.equal(problemOf('rule "x" when true then end'), undefined, 'a rule without actions');
  t.equal(problemOf('RULE "x" WHEN true END'), undefined, 'words in any case, no then');
  t.match(problemOf('pipeline "x" end'), /^1:1 Expected `rule`, got `pipeline`/);
  t.match(problemOf('rule "x" when true then end rule'), /Expected the end of the text/);
  t.match(problemOf(`rule "x" when ${'('.repeat(200)}true${')'.repeat(200)} then end`), /nested 50 deep/);
  t.match(problemOf(`rule "x" when ${'!'.repeat(5_000)}true then end`), /nested 50 deep/);
  t.match(
    problemOf(`rule "x" when true then set_field("a", ${'1 + '.repeat(400)}1); end`),
    /nested 50 deep|More than 50/,
  );
  t.match(problemOf(`rule "x" when true then ${' '.repeat(30_000)} end`), /20000 are allowed/);
});
