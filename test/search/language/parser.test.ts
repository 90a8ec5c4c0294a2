import t from 'tap';
import { parseQuery, type QueryOptions } from '../../../search/language/parser.js';
import { printQuery } from '../../../search/language/print.js';
import { isQueryProblem, pointAt, problemText } from '../../../search/language/problem.js';

const now = Date.parse('2026-03-10T12:34:56.789Z');

/** The tree as canonical text with every grouping shown; `!` marks a problem. */
function read(text: string, options: QueryOptions = {}): string {
  const node = parseQuery(text, { now, aliases: false, ...options });
  return isQueryProblem(node)
    ? `!${node.code} ${node.position}+${node.length}${node.didYouMean === undefined ? '' : ` ${node.didYouMean}`}`
    : printQuery(node);
}

const tables: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
  everything: [
    ['', '*'],
    ['  ', '*'],
    ['*', '*'],
    ['*:*', '*'],
    ['f:*', '_exists_:f'],
    ['NOT *', 'NOT *'],
    ['a OR *', '*'],
    ['a AND *', 'a'],
  ],
  'terms and fields': [
    ['ssh', 'ssh'],
    ['ssh login', 'ssh OR login'],
    ['"ssh login"', '"ssh login"'],
    ['level:3', 'level:3'],
    ['level: 3', 'level:3'],
    ['labels-app:pay', 'labels\\-app:pay'],
    ['labels-app.kubernetes.io_name:x', 'labels\\-app.kubernetes.io_name:x'],
    ['my\\ field:x', 'my\\ field:x'],
    ['resource:\\/posts\\/45326', 'resource:\\/posts\\/45326'],
    ['tag:/var/log/messages', 'tag:\\/var\\/log\\/messages'],
    ['url:http://h:80/a?', 'url:http\\:\\/\\/h\\:80\\/a?'],
    ['order-42', 'order\\-42'],
    ['level:-1', 'level:\\-1'],
    ['a - b', 'a OR \\- OR b'],
    ['done! really', 'done\\! OR really'],
    ['f:"a:b"', 'f:"a:b"'],
    ['"my field":x', 'my\\ field:x'],
    ['*:x', 'x'],
    ['arr[0]', 'arr\\[0\\]'],
    ['f:(a b OR c)', 'f:a OR f:b OR f:c'],
    ['f:(a AND g:b)', 'f:a AND g:b'],
    ['f:("a b" NOT c)', 'f:"a b" AND NOT f:c'],
    ['foo(bar)', 'foo OR bar'],
    ['größe:日本', 'größe:日本'],
  ],
  operators: [
    ['a AND b', 'a AND b'],
    ['a and b', 'a AND b'],
    ['a && b', 'a AND b'],
    ['a OR b', 'a OR b'],
    ['a || b', 'a OR b'],
    ['a Or b', 'a OR b'],
    ['a OR b AND c', 'a OR (b AND c)'],
    ['(a OR b) AND c', '(a OR b) AND c'],
    ['a AND b c', '(a AND b) OR c'],
    ['NOT a', 'NOT a'],
    ['not a', 'NOT a'],
    ['!a', 'NOT a'],
    ['-a', 'NOT a'],
    ['a NOT b', 'a AND NOT b'],
    ['a -b', 'a AND NOT b'],
    ['a OR NOT b', 'a OR NOT b'],
    ['a AND NOT b', 'a AND NOT b'],
    ['a and not b', 'a AND NOT b'],
    ['+a b', 'a'],
    ['+a +b c -d', 'a AND b AND NOT d'],
    ['a b -c', '(a OR b) AND NOT c'],
    ['-a -b', 'NOT a AND NOT b'],
    ['NOT NOT a', 'a'],
    ['NOT (a b)', 'NOT (a OR b)'],
    ['+(a b) +c', '(a OR b) AND c'],
    ['"a"&&"b"', '"a" AND "b"'],
    ['(a)&&"b"', 'a AND "b"'],
    ['(a)||b', 'a OR b'],
    ['n:[601 TO 602]&&!n:602', 'n:[601 TO 602] AND NOT n:602'],
    ['n:{1 TO 2}||n:{3 TO 4}', 'n:{1 TO 2} OR n:{3 TO 4}'],
    ['"a"&&-"b"', '"a" AND NOT "b"'],
    ['"a"&&+b', '"a" AND b'],
    ['"a"&&n:[1 TO 2]', '"a" AND n:[1 TO 2]'],
    ['a &&"b"', 'a AND "b"'],
    ['a ||!b', 'a OR NOT b'],
    ['a &&b', 'a AND b'],
    ['/x/ &&b', '/x/ AND b'],
    ['a^2 ||b', 'a OR b'],
    ['f:(a &&"b")', 'f:a AND f:"b"'],
    ['"a"&&"b"&&"c"', '"a" AND "b" AND "c"'],
    ['a&&b', 'a\\&\\&b'],
    ['curl x&&y', 'curl OR x\\&\\&y'],
    ['a||b', 'a\\|\\|b'],
    ['url:/a?x=1&&y=2', 'url:\\/a?x=1\\&\\&y=2'],
    ['a&& b', 'a\\&\\& OR b'],
    ['&&b', '\\&\\&b'],
    ['(&&b)', '\\&\\&b'],
    ['f:&&b', 'f:\\&\\&b'],
    ['"a"&"b"', '"a" OR \\& OR "b"'],
    ['and', '\\and'],
    ['this and', 'this OR \\and'],
    ['or else', '\\or OR else'],
    ['"AND"', '"AND"'],
    ['a \\and b', 'a OR \\and OR b'],
    ['not', '\\not'],
    ['and:x', '\\and:x'],
    ['f:(a and b)', 'f:a AND f:b'],
    ['message:error and container_name:pay', 'message:error AND container_name:pay'],
    ['a && (b || c)', 'a AND (b OR c)'],
    ['+f:a', 'f:a'],
    ['f:(+a -b)', 'f:a AND NOT f:b'],
  ],
  patterns: [
    ['err*', 'err*'],
    ['ERR?r', 'err?r'],
    ['user:Al*', 'user:Al*'],
    ['source:Exam?le.*', 'source:exam?le.*'],
    ['/ethernet[0-9]+/', '/ethernet[0-9]+/'],
    ['f:/A\\/b\\S/', 'f:/A\\/b\\S/'],
    ['message:/A\\SB\\p{Lu}/', 'message:/a\\Sb\\p{Lu}/'],
    ['a\\*b', 'a\\*b'],
    ['f:a\\*b*', 'f:/a\\*b(?s:.*)/'],
    ['/a b/ c', '/a b/ OR c'],
    ['/a', '\\/a'],
  ],
  'boosts and fuzziness, read and taken as exact': [
    ['a^2', 'a'],
    ['"a b"~5', '"a b"'],
    ['a~', 'a'],
    ['source:x~1', 'source:x'],
    ['(a b)^2.5 c', 'a OR b OR c'],
    ['ssh logni~', 'ssh OR logni'],
    ['a~b', 'a\\~b'],
    ['~/home', '\\~\\/home'],
    ['f:/x/^3', 'f:/x/'],
  ],
  ranges: [
    ['f:[500 TO 504]', 'f:[500 TO 504]'],
    ['f:{400 TO 404}', 'f:{400 TO 404}'],
    ['f:{0 to 64]', 'f:{0 TO 64]'],
    ['f:[0 TO 64}', 'f:[0 TO 64}'],
    ['f:>400', 'f:{400 TO *]'],
    ['f:>=400', 'f:[400 TO *]'],
    ['f:<400', 'f:[* TO 400}'],
    ['f:<= 400', 'f:[* TO 400]'],
    ['f:(>=400 AND <500)', 'f:[400 TO *] AND f:[* TO 500}'],
    ['f:[* TO *]', '_exists_:f'],
    ['f:["a b" TO c]', 'f:["a b" TO "c"]'],
    ['f:[1 TO x]', 'f:["1" TO "x"]'],
    ['f:>-1.5e3', 'f:{-1500 TO *]'],
    ['source:[A TO B]', 'source:["a" TO "b"]'],
    ['a>5', 'a\\>5'],
    ['_exists_:f', '_exists_:f'],
    ['_exists_:labels-app', '_exists_:labels\\-app'],
    ['NOT _exists_:f', 'NOT _exists_:f'],
    ['-_exists_:f', 'NOT _exists_:f'],
  ],
  times: [
    ['timestamp:[now-5m TO now]', 'timestamp:[2026-03-10T12:29:56.789Z TO 2026-03-10T12:34:56.789Z]'],
    ['timestamp:>=now/d', 'timestamp:[2026-03-10T00:00:00.000Z TO *]'],
    ['timestamp:<now/d', 'timestamp:[* TO 2026-03-10T00:00:00.000Z}'],
    ['timestamp:<=2026-01-02', 'timestamp:[* TO 2026-01-02T23:59:59.999Z]'],
    ['timestamp:>2026-01-02', 'timestamp:{2026-01-02T23:59:59.999Z TO *]'],
    ['timestamp:2026-02', 'timestamp:[2026-02-01T00:00:00.000Z TO 2026-02-28T23:59:59.999Z]'],
    [
      'timestamp:["2019-07-23 09:53:08.175" TO "2019-07-23 09:53:08.575"]',
      'timestamp:[2019-07-23T09:53:08.175Z TO 2019-07-23T09:53:08.575Z]',
    ],
    ['receive_time:>2026-01-02T03:04:05+02:00', 'receive_time:{2026-01-02T01:04:05.999Z TO *]'],
    ['timestamp:>1767323045', 'timestamp:{2026-01-02T03:04:05.000Z TO *]'],
    ['timestamp:>1767323045678', 'timestamp:{2026-01-02T03:04:05.678Z TO *]'],
    ['timestamp:[2026-01-31||+1M TO now-1w/w]', 'timestamp:[2026-02-28T00:00:00.000Z TO 2026-03-08T23:59:59.999Z]'],
    ['timestamp:"2024-02-29T10"', 'timestamp:[2024-02-29T10:00:00.000Z TO 2024-02-29T10:59:59.999Z]'],
    ['timestamp:*', '_exists_:timestamp'],
    ['time:2026', 'time:2026'],
  ],
  problems: [
    ['(a', '!SEARCH_QUERY_UNCLOSED 0+1'],
    ['a)', '!SEARCH_QUERY_SYNTAX 1+1'],
    ['()', '!SEARCH_QUERY_SYNTAX 0+2'],
    ['"a', '!SEARCH_QUERY_UNCLOSED 0+2'],
    ['foo:', '!SEARCH_QUERY_SYNTAX 4+0'],
    ['foo: )', '!SEARCH_QUERY_SYNTAX 5+1'],
    ['a AND', '!SEARCH_QUERY_SYNTAX 2+3'],
    ['AND a', '!SEARCH_QUERY_SYNTAX 0+3 "AND"'],
    ['a AND AND b', '!SEARCH_QUERY_SYNTAX 6+3 "AND"'],
    ['a OR', '!SEARCH_QUERY_SYNTAX 2+2'],
    ['"a"&&', '!SEARCH_QUERY_SYNTAX 3+2'],
    ['(a ||)', '!SEARCH_QUERY_SYNTAX 3+2'],
    ['NOT', '!SEARCH_QUERY_SYNTAX 0+3 "NOT"'],
    ['[1 TO 2]', '!SEARCH_QUERY_FIELD 0+8'],
    ['[INFO] started', '!SEARCH_QUERY_SYNTAX 0+5'],
    ['f:[1 TO 2', '!SEARCH_QUERY_UNCLOSED 2+7'],
    ['f:[1 2]', '!SEARCH_QUERY_SYNTAX 2+3'],
    ['f:>', '!SEARCH_QUERY_SYNTAX 3+0'],
    ['message:[a TO b]', '!SEARCH_QUERY_FIELD 8+8'],
    ['f:/(/', '!SEARCH_QUERY_EXPRESSION 2+3'],
    ['f:/(?=a)/', '!SEARCH_QUERY_EXPRESSION 2+7'],
    ['timestamp:yesterday', '!SEARCH_QUERY_TIME 10+9'],
    ['timestamp:[2026-13-01 TO now]', '!SEARCH_QUERY_TIME 11+10'],
    ['timestamp:2026*', '!SEARCH_QUERY_FIELD 10+5'],
    ['_missing_:f', '!SEARCH_QUERY_FIELD 0+9 NOT _exists_'],
    ['_exist_:f', '!SEARCH_QUERY_FIELD 0+7 _exists_'],
    ['lab*:x', '!SEARCH_QUERY_FIELD 0+4'],
    ['a\\', '!SEARCH_QUERY_SYNTAX 1+1 \\\\'],
    ['+', '\\+'],
    ['a +)', '!SEARCH_QUERY_SYNTAX 3+1'],
    [': a', '\\: OR a'],
  ],
};

for (const [name, cases] of Object.entries(tables)) {
  t.test(`the query language reads ${name}`, async (t) => {
    for (const [text, want] of cases) t.equal(read(text), want, text);
  });
}

t.test('each of two names of one thing is searched for the other', async (t) => {
  const both = {
    kind: 'or',
    children: [
      { kind: 'term', field: 'pod', text: 'a' },
      { kind: 'term', field: 'pod_name', text: 'a' },
    ],
  };
  t.same(parseQuery('pod:a'), both);
  t.same(parseQuery('pod_name:a'), both);
  t.same(parseQuery('NOT _exists_:host'), {
    kind: 'not',
    child: {
      kind: 'or',
      children: [
        { kind: 'exists', field: 'host' },
        { kind: 'exists', field: 'hostname' },
      ],
    },
  });
});

t.test('limits answer with a problem and never with a full stack', async (t) => {
  t.match(read('('.repeat(10_000) + 'a' + ')'.repeat(10_000)), /^!SEARCH_QUERY_TOO_LARGE 64\+1/);
  t.match(read('a '.repeat(10_000)), /^!SEARCH_QUERY_TOO_LARGE/);
  t.match(read('a AND '.repeat(10_000) + 'b'), /^!SEARCH_QUERY_TOO_LARGE/);
  t.match(read('f:a '.repeat(10_000), { maxClauses: 20_000 }), /^f:a OR/);
  t.equal(read('NOT '.repeat(10_000) + 'a'), 'a');
  t.match(read('- '.repeat(10_000)), /TOO_LARGE/);
  t.match(read('x'.repeat(65_537)), /^!SEARCH_QUERY_TOO_LARGE/);
  t.match(
    read(Array.from({ length: 20 }, (_, at) => (at % 2 ? 'f:a OR (' : 'f:a AND (')).join('') + 'f:b' + ')'.repeat(20)),
    /^!SEARCH_QUERY_TOO_LARGE 136\+3$/,
  );
});

t.test('a limit is told at the place where it is passed', async (t) => {
  const rows: readonly (readonly [string, string, QueryOptions])[] = [
    ['f:1 f:2 f:3 f:4', '8+3', { maxClauses: 2 }],
    ['(f:1 OR f:2) AND NOT f:333 OR f:4', '21+5', { maxClauses: 2 }],
    ['ab cd', '3+2', { maxClauses: 5 }],
    ['f:1 -f:2 +f:3', '10+3', { maxClauses: 1 }],
    ['f:(a "b c" >=5) g:1', '11+3', { maxClauses: 2 }],
    ['f:a AND (f:b OR NOT (f:c f:d))', '21+3', { maxDepth: 3 }],
    ['a AND (b OR c)', '7+1', { maxDepth: 1 }],
    ['abcdef', '4+2', { maxLength: 4 }],
  ];
  for (const [text, place, limits] of rows) t.equal(read(text, limits), `!SEARCH_QUERY_TOO_LARGE ${place}`, text);
  t.equal(read('f:1 OR * OR f:2', { maxClauses: 1 }), '*', 'what decides nothing does not count');
  t.match(parseQuery('pod:a pod:b', { maxClauses: 3 }), { position: 6, length: 5 }, 'one under two names counts twice');
});

t.test('a problem says where, what came and what is allowed', async (t) => {
  const problem = parseQuery('level:3 and _missing_:pod');
  if (!isQueryProblem(problem)) return t.fail('not a problem');
  t.equal(
    problemText(problem),
    'character 13: The query does not do this with that field. Got _missing_. Allowed: NOT _exists_:field. Did you mean NOT _exists_.',
  );
  t.equal(pointAt('level:3 and _missing_:pod', problem), `level:3 and _missing_:pod\n${' '.repeat(12)}^^^^^^^^^`);
});
