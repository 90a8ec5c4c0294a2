/** One case for each rule of `schemas/query.ts`: title, query, names of the documents that match. */
import type { QueryNode } from '../../../schemas/query.js';

export const searchDocuments: readonly Readonly<Record<string, unknown>>[] = [
  { name: 'a', timestamp: '2026-03-01T10:00:00.000Z', source: 'Web-01', message: 'Connection refused: retrying in 5 seconds', level: 3, port: 8080, ok: false, user: 'alice', 'k8s.namespace-name': 'shop', streams: ['s1', 's2'] },
  { name: 'b', timestamp: '2026-03-01T11:00:00.000Z', source: 'web-02', message: 'connection established', full_message: 'java.lang.IllegalStateException: refused\n\tat com.shop.Main', level: 6, port: 80.5, ok: true, user: 'Alice', code: '8080', streams: ['s1'] },
  { name: 'c', timestamp: '2026-03-01T12:00:00.000Z', source: 'db', message: 'refused the connection', level: 6, port: -5, user: 'bob smith', text: 'true' },
  { name: 'd', timestamp: '2026-03-02T00:00:00.000Z', source: 'DB', message: 'Заказ №42 принят ΟΔΟΣ', level: 4, user: '', 'odd "name"': 'x', streams: [] },
  { name: 'e', timestamp: '2999-01-01T00:00:00.000Z', message: 'user_id=17 path=/api/v1/orders', code: 'a*b', user: 'c\\d' },
];

const term = (field: string | undefined, text: string): QueryNode => ({ kind: 'term', field, text });
const phrase = (field: string | undefined, text: string): QueryNode => ({ kind: 'phrase', field, text });
const wildcard = (field: string | undefined, pattern: string): QueryNode => ({ kind: 'wildcard', field, pattern });
const regex = (field: string | undefined, pattern: string): QueryNode => ({ kind: 'regex', field, pattern });
const exists = (field: string): QueryNode => ({ kind: 'exists', field });
const not = (child: QueryNode): QueryNode => ({ kind: 'not', child });
const and = (...children: QueryNode[]): QueryNode => ({ kind: 'and', children });
const or = (...children: QueryNode[]): QueryNode => ({ kind: 'or', children });
const range = (field: string, from?: string | number, to?: string | number, inclusive = true): QueryNode => ({
  kind: 'range', field,
  from: from === undefined ? undefined : { value: from, inclusive },
  to: to === undefined ? undefined : { value: to, inclusive },
});

export const searchCases: readonly (readonly [title: string, query: QueryNode, names: readonly string[]])[] = [
  ['all', { kind: 'all' }, ['a', 'b', 'c', 'd', 'e']],
  ['none', { kind: 'none' }, []],
  ['a word in any case', term('message', 'CONNECTION'), ['a', 'b', 'c']],
  ['part of a word does not match', term('message', 'connect'), []],
  ['a term of several words is a phrase', term('message', 'connection refused'), ['a']],
  ['a phrase is consecutive words, whatever separates them', phrase('message', 'refused, retrying'), ['a']],
  ['a phrase keeps its order', phrase('message', 'refused connection'), []],
  ['a term without words matches no text', term('message', '--'), []],
  ['without a field: message, full_message and source', term(undefined, 'refused'), ['a', 'b', 'c']],
  ['without a field: source as a whole', term(undefined, 'WEB-01'), ['a']],
  ['other scripts', term('message', 'ЗАКАЗ'), ['d']],
  ['a final sigma', term('message', 'οδοσ'), ['d']],
  ['numbers in text are words', term('message', '17'), ['e']],
  ['words of a path', phrase('message', 'api/v1'), ['e']],
  ['a wildcard within one word', wildcard('message', 'refus*'), ['a', 'b', 'c'].filter((name) => name !== 'b')],
  ['a wildcard with capitals', wildcard('message', 'CONN?CTION'), ['a', 'b', 'c']],
  ['a wildcard does not span words', wildcard('message', 'connection*refused'), []],
  ['a wildcard with a separator matches no word', wildcard('message', 'api/*'), []],
  ['a wildcard without a field', wildcard(undefined, 'illegal*'), ['b']],
  ['a regular expression on single words', regex('message', 're(fused|trying)'), ['a', 'c']],
  ['a regular expression does not span words', regex('message', 'connection.*refused'), []],
  ['strings as a whole, by case', term('user', 'alice'), ['a']],
  ['a string with a space', term('user', 'bob smith'), ['c']],
  ['an empty string', term('user', ''), ['d']],
  ['a backslash', term('user', 'c\\d'), ['e']],
  ['part of a string does not match', term('user', 'bob'), []],
  ['a wildcard on a string', wildcard('user', '?lice'), ['a', 'b']],
  ['a wildcard over a space', wildcard('user', 'bob*'), ['c']],
  ['characters of regular expressions are literal in a wildcard', wildcard('code', 'a*b'), ['e']],
  ['a regular expression is anchored', regex('user', '[a-z]+'), ['a']],
  ['source in any case', term('source', 'db'), ['c', 'd']],
  ['a wildcard on source in any case', wildcard('source', 'WEB*'), ['a', 'b']],
  ['a number', term('port', '8080'), ['a']],
  ['a number written otherwise', term('port', '80.50'), ['b']],
  ['a negative number', term('port', '-5'), ['c']],
  ['a number in a string is a string', term('code', '8080'), ['b']],
  ['a string is not a number', term('code', '8080.0'), []],
  ['a boolean', term('ok', 'true'), ['b']],
  ['a boolean that is a string', term('text', 'true'), ['c']],
  ['a list by a member', term('streams', 's1'), ['a', 'b']],
  ['a wildcard on the members of a list', wildcard('streams', '*2'), ['a']],
  ['a name with dots and hyphens', term('k8s.namespace-name', 'shop'), ['a']],
  ['a name with quotes', term('odd "name"', 'x'), ['d']],
  ['a name that no document has', term('nowhere', 'x'), []],
  ['numbers from', range('port', 80), ['a', 'b']],
  ['numbers to, open', range('port', undefined, 8080, false), ['b', 'c']],
  ['numbers between', range('level', 4, 6), ['b', 'c', 'd']],
  ['a numeric range passes strings by', range('code', 0), []],
  ['a range of texts compares by code point', range('user', 'B', 'b', true), ['a']],
  ['a range of texts', range('user', 'a', 'd'), ['a', 'c', 'e']],
  ['times', range('timestamp', '2026-03-01T11:00:00.000Z', '2026-03-02T00:00:00.000Z', false), ['c']],
  ['times in milliseconds', range('timestamp', Date.UTC(2026, 2, 2)), ['d', 'e']],
  ['exists', exists('port'), ['a', 'b', 'c']],
  ['an empty list does not exist', exists('streams'), ['a', 'b']],
  ['an empty string exists', and(exists('user'), term('user', '')), ['d']],
  ['not', not(term('level', '6')), ['a', 'd', 'e']],
  ['not, with the field missing', not(exists('level')), ['e']],
  ['and', and(term('message', 'connection'), term('level', '6')), ['b', 'c']],
  ['or', or(term('user', 'alice'), term('port', '-5')), ['a', 'c']],
  ['nothing to join', and(), ['a', 'b', 'c', 'd', 'e']],
  ['nothing to choose from', or(), []],
  ['nested', and(not(and(term('level', '6'), not(term('source', 'db')))), or(term('message', 'connection'), exists('odd "name"'))), ['a', 'c', 'd']],
];
