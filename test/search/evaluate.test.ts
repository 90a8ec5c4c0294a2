import t from 'tap';
import type { QueryNode } from '../../schemas/query.js';
import { evaluate } from '../../search/evaluate.js';

const document = {
  timestamp: '2026-01-02T03:04:05.678Z', source: 'Node-7.example.org', message: 'Payment accepted: order-42 für Straße', full_message: 'at Pay.run(Pay.java:17)',
  level: 6, ratio: 0.5, ok: true, user: 'Alice', path: '/var/log/messages', code: '404', streams: ['audit-logs', 'default'], adjustments: [], 'labels-app.name': 'pay', emoji: '😀',
};
const cases: readonly (readonly [string, QueryNode, boolean])[] = [
  ['all', { kind: 'all' }, true],
  ['none', { kind: 'none' }, false],
  ['a word of the message in any case', { kind: 'term', field: undefined, text: 'ACCEPTED' }, true],
  ['a term is the phrase of its words', { kind: 'term', field: 'message', text: 'order-42' }, true],
  ['a term whose words stand apart', { kind: 'term', field: 'message', text: 'payment-order' }, false],
  ['part of a word', { kind: 'term', field: undefined, text: 'accept' }, false],
  ['a term without words', { kind: 'term', field: 'message', text: '--' }, false],
  ['a phrase in order', { kind: 'phrase', field: undefined, text: 'accepted, order 42' }, true],
  ['a phrase out of order', { kind: 'phrase', field: undefined, text: 'order accepted' }, false],
  ['words of full_message', { kind: 'term', field: undefined, text: 'pay.java' }, true],
  ['source as a whole in any case', { kind: 'term', field: undefined, text: 'node-7.EXAMPLE.org' }, true],
  ['a part of source', { kind: 'term', field: 'source', text: 'node-7' }, false],
  ['another field does not answer without its name', { kind: 'term', field: undefined, text: 'Alice' }, false],
  ['a string by its case', { kind: 'term', field: 'user', text: 'Alice' }, true],
  ['a string in another case', { kind: 'term', field: 'user', text: 'alice' }, false],
  ['a number written otherwise', { kind: 'term', field: 'level', text: '6.0' }, true],
  ['another number', { kind: 'term', field: 'level', text: '7' }, false],
  ['a word for a number', { kind: 'term', field: 'level', text: 'six' }, false],
  ['a boolean', { kind: 'term', field: 'ok', text: 'true' }, true],
  ['a number as a string', { kind: 'term', field: 'code', text: '404' }, true],
  ['a number written otherwise, kept as a string', { kind: 'term', field: 'code', text: '404.0' }, false],
  ['a member of a list', { kind: 'term', field: 'streams', text: 'audit-logs' }, true],
  ['a missing field', { kind: 'term', field: 'nothing', text: 'x' }, false],
  ['a missing field under not', { kind: 'not', child: { kind: 'term', field: 'nothing', text: 'x' } }, true],
  ['a name from Object.prototype', { kind: 'exists', field: 'constructor' }, false],
  ['a field with a dot', { kind: 'term', field: 'labels-app.name', text: 'pay' }, true],
  ['a wildcard on one word', { kind: 'wildcard', field: 'message', pattern: 'ACC*ted' }, true],
  ['a wildcard over two words', { kind: 'wildcard', field: 'message', pattern: 'payment*accepted' }, false],
  ['a wildcard on source', { kind: 'wildcard', field: undefined, pattern: 'node-?.*' }, true],
  ['a wildcard on a string by its case', { kind: 'wildcard', field: 'user', pattern: 'a*' }, false],
  ['a wildcard with signs of expressions', { kind: 'wildcard', field: 'path', pattern: '/var/l?g/*' }, true],
  ['one character beyond the basic plane', { kind: 'wildcard', field: 'emoji', pattern: '?' }, true],
  ['a wildcard on a number', { kind: 'wildcard', field: 'level', pattern: '*' }, false],
  ['an expression is anchored', { kind: 'regex', field: 'path', pattern: 'var' }, false],
  ['an expression', { kind: 'regex', field: 'path', pattern: '/var/(log|run)/.*' }, true],
  ['a numeric range', { kind: 'range', field: 'level', from: { value: 6, inclusive: true }, to: { value: 7, inclusive: false } }, true],
  ['an exclusive end', { kind: 'range', field: 'level', from: { value: 6, inclusive: false }, to: undefined }, false],
  ['a numeric range on a string', { kind: 'range', field: 'code', from: { value: 400, inclusive: true }, to: undefined }, false],
  ['a range of strings on a number', { kind: 'range', field: 'level', from: { value: 'a', inclusive: true }, to: undefined }, false],
  ['a range of strings', { kind: 'range', field: 'user', from: { value: 'A', inclusive: true }, to: { value: 'B', inclusive: true } }, true],
  ['a range by code point', { kind: 'range', field: 'emoji', from: { value: '\uffee', inclusive: true }, to: undefined }, true],
  ['a range of times', { kind: 'range', field: 'timestamp', from: { value: Date.parse('2026-01-02T03:04:05.678Z'), inclusive: true }, to: { value: Date.parse('2026-01-03'), inclusive: false } }, true],
  ['a range on words', { kind: 'range', field: 'message', from: { value: 'a', inclusive: true }, to: undefined }, false],
  ['exists', { kind: 'exists', field: 'ok' }, true],
  ['an empty list does not exist', { kind: 'exists', field: 'adjustments' }, false],
  ['and', { kind: 'and', children: [{ kind: 'all' }, { kind: 'none' }] }, false],
  ['or', { kind: 'or', children: [{ kind: 'none' }, { kind: 'all' }] }, true],
];

t.test('the reference evaluation follows the rules of the query schema', async (t) => {
  for (const [name, node, want] of cases) t.equal(evaluate(node, document), want, name);
});
