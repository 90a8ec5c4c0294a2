import t from 'tap';
import type { LogDocument } from '../../schemas/messages.js';
import { compiled, run } from './support.js';

type Case = readonly [title: string, before: LogDocument, after: LogDocument];

const tables: readonly { readonly name: string; readonly then: readonly unknown[]; readonly cases: readonly Case[] }[] =
  [
    {
      name: 'set',
      then: [{ set: { field: 'a', value: 5 } }],
      cases: [
        ['new', {}, { a: 5 }],
        ['overwrites', { a: 'x' }, { a: 5 }],
      ],
    },
    {
      name: 'set where missing',
      then: [{ set: { field: 'a', value: true, overwrite: false } }],
      cases: [
        ['new', {}, { a: true }],
        ['keeps', { a: 0 }, { a: 0 }],
      ],
    },
    {
      name: 'set with fields',
      then: [{ set: { field: 'a', value: '${pod}/${n}$' } }],
      cases: [
        ['alias and number', { pod_name: 'p', n: 7 }, { pod_name: 'p', n: 7, a: 'p/7$' }],
        ['one is missing', { n: 7 }, { n: 7 }],
      ],
    },
    {
      name: 'copy',
      then: [{ copy: { from: 'a', to: 'b' } }],
      cases: [
        ['copies', { a: 1 }, { a: 1, b: 1 }],
        ['missing', { b: 2 }, { b: 2 }],
      ],
    },
    {
      name: 'copy the first',
      then: [{ copy: { from: ['x', 'y'], to: 'b', overwrite: false } }],
      cases: [
        ['second', { y: 1 }, { y: 1, b: 1 }],
        ['first wins', { x: 0, y: 1 }, { x: 0, y: 1, b: 0 }],
        ['keeps', { x: 0, b: 9 }, { x: 0, b: 9 }],
      ],
    },
    {
      name: 'rename',
      then: [{ rename: { from: 'a', to: 'b' } }],
      cases: [
        ['renames', { a: 1 }, { b: 1 }],
        ['overwrites', { a: 1, b: 2 }, { b: 1 }],
        ['missing', { b: 2 }, { b: 2 }],
      ],
    },
    {
      name: 'rename, keeping',
      then: [{ rename: { from: 'a', to: 'b', overwrite: false } }],
      cases: [['both stay', { a: 1, b: 2 }, { a: 1, b: 2 }]],
    },
    {
      name: 'rename prefix',
      then: [{ rename: { from_prefix: 'x_', to_prefix: 'y-' } }],
      cases: [['all of them', { x_a: 1, 'x_b.c': 2, x_: 3 }, { 'y-a': 1, 'y-b.c': 2, x_: 3 }]],
    },
    {
      name: 'rename prefix away',
      then: [{ rename: { from_prefix: 'x_', to_prefix: '' } }],
      cases: [
        [
          'own fields are safe',
          { x_a: 1, x_receiver: 'evil', x_timestamp: 'evil' },
          { a: 1, sender_receiver: 'evil', sender_timestamp: 'evil' },
        ],
      ],
    },
    { name: 'remove', then: [{ remove: { fields: ['a', 'b'] } }], cases: [['removes', { a: 1, c: 2 }, { c: 2 }]] },
    {
      name: 'convert to number',
      then: [{ convert: { field: 'a', to: 'number' } }],
      cases: [
        ['text', { a: '1.50' }, { a: 1.5 }],
        ['no number', { a: '1,5' }, { a: '1,5' }],
        ['long integer stays exact', { a: '12345678901234567890' }, { a: '12345678901234567890' }],
        ['boolean', { a: true }, { a: true }],
      ],
    },
    {
      name: 'convert to string',
      then: [{ convert: { field: 'a', to: 'string' } }],
      cases: [
        ['number', { a: 5 }, { a: '5' }],
        ['boolean', { a: false }, { a: 'false' }],
      ],
    },
    {
      name: 'convert to boolean',
      then: [{ convert: { field: 'a', to: 'boolean' } }],
      cases: [
        ['true', { a: 'TRUE' }, { a: true }],
        ['false', { a: 'false' }, { a: false }],
        ['other', { a: 'yes' }, { a: 'yes' }],
      ],
    },
    {
      name: 'parse_json',
      then: [{ parse_json: { field: 'j' } }],
      cases: [
        [
          'flattens',
          { j: '{"a":{"b":1,"c":[1,"x"]},"d":null,"e":true}' },
          { j: '{"a":{"b":1,"c":[1,"x"]},"d":null,"e":true}', a_b: 1, a_c: '[1,"x"]', e: true },
        ],
        ['keeps what is there', { j: '{"a":1}', a: 2 }, { j: '{"a":1}', a: 2 }],
        ['no object', { j: '[1]' }, { j: '[1]' }],
        ['broken', { j: '{"a":' }, { j: '{"a":' }],
        ['a number', { j: 5 }, { j: 5 }],
        [
          'own fields are safe',
          { j: '{"_id":"x","receiver":"y","timestamp":"z","__proto__":"p"}' },
          {
            j: '{"_id":"x","receiver":"y","timestamp":"z","__proto__":"p"}',
            sender__id: 'x',
            sender_receiver: 'y',
            sender_timestamp: 'z',
            sender___proto__: 'p',
          },
        ],
        [
          'long integers stay exact',
          { j: '{"a":12345678901234567890,"b":"1234567890123456"}' },
          { j: '{"a":12345678901234567890,"b":"1234567890123456"}', a: '12345678901234567890', b: '1234567890123456' },
        ],
      ],
    },
    {
      name: 'parse_json, removing',
      then: [{ parse_json: { field: 'j', prefix: 'p-', separator: '.', remove: true } }],
      cases: [
        ['taken apart', { j: '{"a":{"b/c":1}}' }, { 'p-a.b_c': 1 }],
        ['not whole: stays', { j: '{"a":1}', 'p-a': 2 }, { j: '{"a":1}', 'p-a': 2 }],
      ],
    },
    {
      name: 'parse_key_value',
      then: [{ parse_key_value: { field: 'm' } }],
      cases: [
        [
          'pairs',
          { m: 'a=1 b="two words" c= x d=e=f' },
          { m: 'a=1 b="two words" c= x d=e=f', a: '1', b: 'two words', c: '', d: 'e=f' },
        ],
        ['quotes inside', { m: 'a="x \\"y\\" z" b=2' }, { m: 'a="x \\"y\\" z" b=2', a: 'x "y" z', b: '2' }],
        ['a quote that never ends', { m: 'a="x b=2' }, { m: 'a="x b=2', a: '"x', b: '2' }],
        ['no pairs', { m: 'text only' }, { m: 'text only' }],
        ['no key', { m: '=x' }, { m: '=x' }],
      ],
    },
    {
      name: 'parse_key_value with separators',
      then: [{ parse_key_value: { field: 'm', pair_separator: ';', key_value_separator: ':', prefix: 'p_' } }],
      cases: [['pairs', { m: 'a: 1;b:2' }, { m: 'a: 1;b:2', p_a: '1', p_b: '2' }]],
    },
    {
      name: 'parse_key_value in brackets',
      then: [{ parse_key_value: { field: 'm', form: 'brackets' } }],
      cases: [
        [
          'pairs',
          { m: '[2026][INFO] [request_id=5] [logType=int] text x=1' },
          { m: '[2026][INFO] [request_id=5] [logType=int] text x=1', request_id: '5', logType: 'int' },
        ],
        ['keys have no spaces', { m: '[a b=1] [c=]' }, { m: '[a b=1] [c=]', c: '' }],
        ['the inner bracket counts', { m: '[x [a=1] y' }, { m: '[x [a=1] y', a: '1' }],
        ['open end', { m: '[a=1' }, { m: '[a=1' }],
        ['the first wins', { m: '[a=1][a=2]' }, { m: '[a=1][a=2]', a: '1' }],
      ],
    },
    {
      name: 'regex',
      then: [{ regex: { field: 'm', pattern: 'u=(?P<user>\\w+)(?: n=(?P<n>\\d+))?' } }],
      cases: [
        ['both', { m: 'x u=ann n=5' }, { m: 'x u=ann n=5', user: 'ann', n: '5' }],
        ['one took no part', { m: 'u=bob' }, { m: 'u=bob', user: 'bob' }],
        ['no match', { m: 'v=1' }, { m: 'v=1' }],
        ['overwrites', { m: 'u=ann', user: 'x' }, { m: 'u=ann', user: 'ann' }],
      ],
    },
    {
      name: 'grok',
      then: [
        {
          grok: {
            field: 'm',
            pattern: '%{IP:client} %{WORD:verb} %{MYID:my.id} took %{NUMBER:ms:number}',
            patterns: { MYID: 'id-%{INT}' },
          },
        },
      ],
      cases: [
        [
          'found',
          { m: '-> 192.0.2.7 GET id-5 took 1.5' },
          { m: '-> 192.0.2.7 GET id-5 took 1.5', client: '192.0.2.7', verb: 'GET', 'my.id': 'id-5', ms: 1.5 },
        ],
        ['not found', { m: 'nothing' }, { m: 'nothing' }],
      ],
    },
    {
      name: 'grok of an access line',
      then: [{ grok: { field: 'm', pattern: '^%{COMBINEDLOG}$' } }],
      cases: [
        [
          'found',
          { m: '192.0.2.7 - ann [02/Jan/2026:03:04:05 +0000] "GET /x HTTP/1.1" 200 5 "-" "curl/8"' },
          {
            m: '192.0.2.7 - ann [02/Jan/2026:03:04:05 +0000] "GET /x HTTP/1.1" 200 5 "-" "curl/8"',
            client: '192.0.2.7',
            ident: '-',
            user: 'ann',
            time: '02/Jan/2026:03:04:05 +0000',
            method: 'GET',
            path: '/x',
            http_version: '1.1',
            status: 200,
            bytes: 5,
            referrer: '-',
            agent: 'curl/8',
          },
        ],
      ],
    },
    {
      name: 'date',
      then: [
        {
          date: {
            field: 'd',
            formats: ['iso8601', 'unix_ms', 'unix', 'dd/MMM/yyyy:HH:mm:ss Z', 'yyyy-MM-dd hh:mm:ss a'],
            timezone: 'Europe/Berlin',
            to: 'when',
          },
        },
      ],
      cases: [
        [
          'with an offset',
          { d: '2026-01-02T03:04:05.678+01:00' },
          { d: '2026-01-02T03:04:05.678+01:00', when: '2026-01-02T02:04:05.678Z' },
        ],
        [
          'winter in the zone',
          { d: '2026-01-02 03:04:05,678' },
          { d: '2026-01-02 03:04:05,678', when: '2026-01-02T02:04:05.678Z' },
        ],
        ['summer in the zone', { d: '2026-07-02 03:04' }, { d: '2026-07-02 03:04', when: '2026-07-02T01:04:00.000Z' }],
        ['milliseconds', { d: 1767323045678 }, { d: 1767323045678, when: '2026-01-02T03:04:05.678Z' }],
        [
          'letters',
          { d: '02/Jan/2026:03:04:05 +0000' },
          { d: '02/Jan/2026:03:04:05 +0000', when: '2026-01-02T03:04:05.000Z' },
        ],
        [
          'afternoon',
          { d: '2026-01-02 12:04:05 AM' },
          { d: '2026-01-02 12:04:05 AM', when: '2026-01-01T23:04:05.000Z' },
        ],
        ['no such day', { d: '2026-02-30 00:00:00' }, { d: '2026-02-30 00:00:00' }],
        ['no time', { d: 'soon' }, { d: 'soon' }],
        ['missing', {}, {}],
      ],
    },
    {
      name: 'date in seconds',
      then: [{ date: { field: 'd', formats: ['unix'] } }],
      cases: [
        ['fraction', { d: '1767323045.678' }, { d: '1767323045.678', timestamp: '2026-01-02T03:04:05.678Z' }],
        ['negative', { d: -1 }, { d: -1 }],
      ],
    },
  ];

for (const { name, then, cases } of tables) {
  t.test(`action ${name}`, async (t) => {
    const ruleSet = compiled({ rules: [{ id: 'r', when: { always: true }, then }] });
    for (const [title, before, after] of cases) t.same(run(ruleSet, before).document, after, title);
  });
}

t.test('drop ends: later actions, rules and streams do nothing', async (t) => {
  const ruleSet = compiled({
    rules: [
      {
        id: 'a',
        when: { field: 'x', equals: 1 },
        then: [{ set: { field: 'one', value: 1 } }, { drop: true }, { set: { field: 'two', value: 2 } }],
      },
      { id: 'b', when: { always: true }, then: [{ set: { field: 'three', value: 3 } }] },
    ],
  });
  const { document, routing } = run(ruleSet, { x: 1 });
  t.same(routing, { streams: [], indexSets: [], dropped: true });
  t.same(document, { x: 1, one: 1 });
  t.same(run(ruleSet, { x: 2 }).document, { x: 2, three: 3 });
});

t.test('sample keeps about its part and decides by the message id', async (t) => {
  const ruleSet = compiled({ rules: [{ id: 'r', when: { always: true }, then: [{ sample: { keep: 0.25 } }] }] });
  const kept = (id: number) =>
    !ruleSet.apply({ message: 'm' }, { messageId: `019b0000-00-${id.toString(16).padStart(10, '0')}`, receiver: 'r' })
      .dropped;
  const ids = Array.from({ length: 20_000 }, (_, id) => id);
  const first = ids.map(kept);
  const share = first.filter(Boolean).length / ids.length;
  t.ok(share > 0.235 && share < 0.265, `kept ${share}`);
  t.same(ids.slice(0, 500).map(kept), first.slice(0, 500), 'again the same');
});

t.test('route adds streams, disabled ones take nothing', async (t) => {
  const ruleSet = compiled({
    rules: [{ id: 'r', when: { always: true }, then: [{ route: { stream: 'on' } }, { route: { stream: 'off' } }] }],
    streams: [{ id: 'on' }, { id: 'off', enabled: false, remove_matches_from_default_stream: true }],
  });
  t.same(run(ruleSet, {}).routing.streams, ['all-messages', 'on']);
});
