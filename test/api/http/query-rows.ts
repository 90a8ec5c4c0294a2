/** Query texts and what they find, through the API: [query, names of the documents], grouped by what they show. */
import { apiIdOf } from '../../../core/object-ids.js';

export type QueryRow = readonly [query: string, names: string];

const day = 86_400_000;
/** Noon of yesterday. */
export const noon = (now: number): number => Math.floor(now / day) * day - day / 2;

export function queryDocuments(now: number): readonly Readonly<Record<string, unknown>>[] {
  const at = (ms: number): string => new Date(ms).toISOString();
  return [
    { name: 'a', timestamp: at(now - 60_000), message: 'Connection refused by peer', level: 3, took: 1.5, user: 'alice', container: 'pay', namespace: 'shop', pod: 'pay-1', host_name: 'x', 'app.kubernetes.io/name': 'pay', 'labels-app': 'web' },
    { name: 'b', streams: ['all-messages', 'Shop Logs'], timestamp: at(now - 2 * 3_600_000), message: 'connection established', full_message: 'java.io.IOException: refused', level: 4, took: 20, user: 'Alice', container_name: 'pay', namespace_name: 'shop', pod_name: 'pay-1', code: '200' },
    { name: 'c', streams: ['all-messages', 'audit-logs'], timestamp: at(noon(now)), message: 'a (bracketed) path /api/v1:get', level: 6, took: -3, user: 'bob smith', container: 'web', 'labels-app': 'db', path: '/api/v1' },
    { name: 'd', timestamp: at(Date.UTC(2026, 0, 15, 12)), message: 'user said "hello"', level: 6, user: 'a*b', 'odd:name': 'x', 'with space': 'y', ok: true, note: 'AND', code: 200 },
    { name: 'e', timestamp: at(Date.UTC(2026, 1, 1)), message: 'nothing to see', level: 7, user: 'c\\d', ok: false, empty: '' },
  ];
}

export const queryRows: Readonly<Record<string, readonly QueryRow[]>> = {
  'everything, words and phrases': [
    ['', 'abcde'], ['*', 'abcde'], ['*:*', 'abcde'], ['refused', 'ab'], ['REFUSED', 'ab'], ['refuse', ''], ['"connection refused"', 'a'], ['"refused connection"', ''], ['message:refused', 'a'], ['full_message:refused', 'b'], ['connection refused', 'ab'], ['v1', 'c'], ['"api v1 get"', 'c'],
  ],
  'hyphens, dots and other signs in names': [
    ['labels-app:web', 'a'], ['app.kubernetes.io\\/name:pay', 'a'], ['app.kubernetes.io/name:pay', 'a'], ['_exists_:labels-app', 'ac'], ['odd\\:name:x', 'd'], ['with\\ space:y', 'd'], ['labels-app:(web db)', 'ac'], ['-labels-app:web', 'bcde'], ['nowhere:x', ''],
  ],
  'both names of one thing': [
    ['container:pay', 'ab'], ['container_name:pay', 'ab'], ['namespace:shop', 'ab'], ['namespace_name:shop', 'ab'], ['pod:"pay-1"', 'ab'], ['pod_name:pay-1', 'ab'], ['_exists_:container_name', 'abc'], ['_exists_:container', 'abc'], ['container:(pay web)', 'abc'], ['container_name:w*', 'c'],
    ['pod:/pay-\\d/', 'ab'], ['NOT container_name:pay', 'cde'], ['namespace:[shoo TO shoq]', 'ab'], ['Container:pay', ''],
  ],
  'both names of a stream': [
    ['streams:all-messages', 'abcde'], ['streams:000000000000000000000001', 'abcde'], ['streams:"000000000000000000000001" AND level:3', 'a'], [`streams:${apiIdOf('Shop Logs').toUpperCase()}`, 'b'], [`streams:(${apiIdOf('Shop Logs')} ${apiIdOf('audit-logs')})`, 'bc'],
    [`streams:("${apiIdOf('Shop Logs')}" OR audit-logs)`, 'bc'], [`NOT streams:${apiIdOf('audit-logs')}`, 'abde'], [`-streams:${apiIdOf('audit-logs')} +level:6`, 'd'], ['streams:00000000000000000000000a', ''], [`user:${apiIdOf('audit-logs')}`, ''],
  ],
  groups: [
    ['user:(alice bob)', 'a'], ['user:(alice OR "bob smith")', 'ac'], ['user:(NOT alice)', 'bcde'], ['message:(+connection -refused)', 'b'], ['message:(connection AND (refused OR established))', 'ab'], ['level:(3 4)', 'ab'], ['level:(>=4 AND <7)', 'bcd'], ['(user:alice OR level:7) AND message:(peer see)', 'ae'], ['((((user:alice))))', 'a'],
  ],
  'operators in any case': [
    ['connection AND refused', 'ab'], ['message:connection and message:refused', 'a'], ['message:connection And level:4', 'b'], ['message:connection && level:4', 'b'], ['level:3 OR level:7', 'ae'], ['level:3 or level:7', 'ae'], ['level:3 oR level:7', 'ae'], ['level:3 || level:7', 'ae'], ['NOT level:6', 'abe'], ['not level:6', 'abe'], ['!level:6', 'abe'], ['-level:6', 'abe'],
    ['+message:connection -level:3', 'b'], ['+connection refused', 'ab'], ['message:connection AND NOT level:3', 'b'], ['message:connection && !level:3', 'b'], ['level:6 AND level:3 OR level:7', 'e'], ['level:7 OR level:6 AND user:"a*b"', 'de'], ['note:AND', 'd'], ['note:"AND"', 'd'], ['\\and', ''],
  ],
  wildcards: [
    ['refus*', 'ab'], ['*fused', 'ab'], ['?efused', 'ab'], ['re*ed', 'ab'], ['user:al?ce', 'a'], ['user:*lice', 'ab'], ['user:b*', 'c'], ['user:*', 'abcde'], ['user:a\\*b', 'd'], ['user:"a*b"', 'd'], ['user:a\\**', 'd'], ['message:CONN*', 'ab'], ['name:?', 'abcde'], ['level:*', 'abcde'], ['nowhere:*', ''],
  ],
  'regular expressions': [
    ['user:/ali.*/', 'a'], ['user:/[aA]lice/', 'ab'], ['user:/lice/', ''], ['/refu.ed/', 'ab'], ['message:/CONN.*/', 'ab'], ['message:/(?i)CONN.*/', 'ab'], ['path:/\\/api\\/v[0-9]/', 'c'], ['user:/(a+)+/', ''], ['user:/(x+x+)+y/', ''], ['NOT user:/a.*/', 'bce'],
  ],
  ranges: [
    ['level:[3 TO 4]', 'ab'], ['level:{3 TO 6}', 'b'], ['level:[3 TO 6}', 'ab'], ['level:{3 TO 6]', 'bcd'], ['level:>=6', 'cde'], ['level:>6', 'e'], ['level:<4', 'a'], ['level:<=4', 'ab'], ['level:[6 TO *]', 'cde'], ['level:[* TO 4]', 'ab'], ['level:{* TO 4}', 'a'], ['level:[* TO *]', 'abcde'], ['took:[-3 TO 1.5]', 'ac'], ['took:<0', 'c'], ['took:>-3.5', 'abc'], ['took:[1e0 TO 2e1]', 'ab'],
    ['user:[alice TO bob]', 'a'], ['user:{"A" TO "B"}', 'b'], ['code:[100 TO 300]', 'd'], ['level:[4 to 6]', 'bcd'], ['level:[6 TO 3]', ''],
  ],
  'times and date mathematics': [
    ['timestamp:[now-1h TO now]', 'a'], ['timestamp:>now-3h', 'ab'], ['timestamp:[now-1d/d TO now-1d/d+13h}', 'c'], ['timestamp:["2026-01-15" TO "2026-01-16"]', 'd'], ['timestamp:[2026-01-15 TO 2026-01-15]', 'd'], ['timestamp:[2026-01-01 TO 2026-02-01}', 'd'], ['timestamp:[2026-01-01 TO 2026-02-01]', 'de'], ['timestamp:{* TO 2026-01-31}', 'd'],
    ['timestamp:"2026-01-15T12:00:00.000Z"', 'd'], ['timestamp:"2026-01-15 12:00:00.000"', 'd'], ['timestamp:"2026-01-15T14:00:00+02:00"', 'd'], ['timestamp:[2026-01-15T00:00:00Z||+1d/d TO *]', 'abce'], [`timestamp:[${Date.UTC(2026, 1, 1)} TO ${Date.UTC(2026, 1, 1)}]`, 'e'], ['timestamp:<2026-02', 'd'], ['timestamp:[* TO *]', 'abcde'],
  ],
  'fields that exist': [['_exists_:code', 'bd'], ['NOT _exists_:code', 'ace'], ['_exists_:empty', 'e'], ['_exists_:nowhere', ''], ['_exists_:"with space"', 'd'], ['_exists_:user AND -_exists_:ok', 'abc'], ['_exists_:timestamp', 'abcde']],
  'boosts, fuzziness and proximity, taken as if they were not there': [
    ['user:alice^4', 'a'], ['"connection refused"^2.5', 'a'], ['(level:3 level:7)^2', 'ae'], ['refused~', 'ab'], ['refused~1', 'ab'], ['refused~0.8', 'ab'], ['refussed~1', ''], ['"connection refused"~5', 'a'], ['user:alice~2^3', 'a'], ['level:[3 TO 4]^2', 'ab'],
  ],
  escapes: [
    ['path:\\/api\\/v1', 'c'], ['path:"/api/v1"', 'c'], ['user:c\\\\d', 'e'], ['user:"c\\\\d"', 'e'], ['message:"said \\"hello\\""', 'd'], ['\\(bracketed\\)', 'c'], ['user:bob\\ smith', 'c'], ['"v1:get"', 'c'], ['v1\\:get', 'c'], ['\\+\\-\\!', ''], ['user:\\a\\l\\i\\c\\e', 'a'],
  ],
  'values of every kind': [['ok:true', 'd'], ['ok:false', 'e'], ['ok:True', ''], ['code:200', 'bd'], ['code:"200"', 'bd'], ['code:200.0', 'd'], ['took:1.50', 'a'], ['took:-3', 'c'], ['took:"-3"', 'c'], ['empty:""', 'e'], ['user:ALICE', ''], ['source:HOST-1', 'abcde']],
};

/** Texts that cannot be read, with the place that the answer names. */
export const brokenQueries: readonly (readonly [query: string, place: RegExp])[] = [
  ['a AND (b', /character 7/], ['a AND', /character 3/], ['user:"open', /character 6/], ['a)', /character 2/], ['level:[1 TO', /character 7/], ['level:[1 2]', /character \d+/], ['user:/(/', /character 6/], ['user:/(?=x)/', /character 6/], ['timestamp:[yesterday-ish TO now]', /character \d+/], ['user:', /character \d+/],
  ['OR a', /character 1/], ['a OR OR b', /character 6/], [`${'('.repeat(70)}a${')'.repeat(70)}`, /character 65/], [Array.from({ length: 1_100 }, (_, at) => `w${at}`).join(' '), /character 1556\b/], ['a\n\nAND )', /character|line/],
];
