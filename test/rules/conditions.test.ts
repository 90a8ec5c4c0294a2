import t from 'tap';
import type { LogDocument } from '../../schemas/messages.js';
import { compiled, run } from './support.js';

type Case = readonly [title: string, document: LogDocument, holds: boolean];

const tables: readonly { readonly name: string; readonly when: unknown; readonly cases: readonly Case[] }[] = [
  {
    name: 'equals',
    when: { field: 'a', equals: 'x' },
    cases: [
      ['the same text', { a: 'x' }, true],
      ['white space at the ends', { a: ' x\t' }, true],
      ['another case', { a: 'X' }, false],
      ['a part', { a: 'xx' }, false],
      ['missing', {}, false],
      ['empty', { a: '' }, false],
    ],
  },
  {
    name: 'equals a number',
    when: { field: 'a', equals: 3 },
    cases: [
      ['the number', { a: 3 }, true],
      ['its text', { a: '3' }, true],
      ['another text of it', { a: '3.0' }, false],
    ],
  },
  {
    name: 'equals true in any case',
    when: { field: 'a', equals: 'true', ignore_case: true },
    cases: [
      ['boolean', { a: true }, true],
      ['text', { a: 'True ' }, true],
      ['false', { a: 'false' }, false],
      ['missing', {}, false],
    ],
  },
  {
    name: 'one_of',
    when: { field: 'a', one_of: ['x', 'y', 5] },
    cases: [
      ['the first', { a: 'x' }, true],
      ['trimmed', { a: ' y' }, true],
      ['a number', { a: 5 }, true],
      ['another', { a: 'z' }, false],
      ['missing', {}, false],
    ],
  },
  {
    name: 'one_of in any case',
    when: { field: 'a', one_of: ['Xy'], ignore_case: true },
    cases: [
      ['other case', { a: 'xY' }, true],
      ['another', { a: 'x' }, false],
    ],
  },
  {
    name: 'contains',
    when: { field: 'a', contains: 'ab' },
    cases: [
      ['inside', { a: 'xabx' }, true],
      ['other case', { a: 'AB' }, false],
      ['a number holds its digits', { a: 'ab1' }, true],
      ['missing', {}, false],
    ],
  },
  {
    name: 'contains digits',
    when: { field: 'a', contains: 23 },
    cases: [
      ['in a number', { a: 1234 }, true],
      ['not', { a: 14 }, false],
    ],
  },
  {
    name: 'contains in any case',
    when: { field: 'a', contains: 'Ab', ignore_case: true },
    cases: [['other case', { a: 'xaBx' }, true]],
  },
  {
    name: 'starts_with',
    when: { field: 'a', starts_with: 'ab' },
    cases: [
      ['start', { a: 'abc' }, true],
      ['inside', { a: 'xab' }, false],
      ['missing', {}, false],
    ],
  },
  {
    name: 'ends_with',
    when: { field: 'a', ends_with: 'ab' },
    cases: [
      ['end', { a: 'cab' }, true],
      ['inside', { a: 'abx' }, false],
      ['missing', {}, false],
    ],
  },
  {
    name: 'regex',
    when: { field: 'a', regex: 'b.c|^z+$' },
    cases: [
      ['finds inside', { a: 'xbxcx' }, true],
      ['over a line break', { a: 'b\nc' }, true],
      ['second alternative', { a: 'zz' }, true],
      ['neither', { a: 'zzy' }, false],
      ['missing', {}, false],
    ],
  },
  {
    name: 'regex in any case',
    when: { field: 'a', regex: 'hello', ignore_case: true },
    cases: [['other case', { a: 'HeLLo' }, true]],
  },
  {
    name: 'regex on a number',
    when: { field: 'a', regex: '^5\\d\\d$' },
    cases: [
      ['number', { a: 503 }, true],
      ['another', { a: 404 }, false],
    ],
  },
  {
    name: 'exists',
    when: { field: 'a', exists: true },
    cases: [
      ['text', { a: 'x' }, true],
      ['zero', { a: 0 }, true],
      ['false', { a: false }, true],
      ['blank', { a: '  ' }, false],
      ['missing', {}, false],
    ],
  },
  {
    name: 'exists: false',
    when: { field: 'a', exists: false },
    cases: [
      ['text', { a: 'x' }, false],
      ['blank', { a: ' ' }, true],
      ['missing', {}, true],
    ],
  },
  {
    name: 'greater',
    when: { field: 'a', greater: 5 },
    cases: [
      ['more', { a: 6 }, true],
      ['equal', { a: 5 }, false],
      ['text', { a: ' 5.5 ' }, true],
      ['exponent', { a: '1e3' }, true],
      ['no number', { a: '6x' }, false],
      ['hex', { a: '0x10' }, false],
      ['boolean', { a: true }, false],
      ['missing', {}, false],
    ],
  },
  {
    name: 'less',
    when: { field: 'a', less: 5 },
    cases: [
      ['less', { a: -1 }, true],
      ['equal', { a: 5 }, false],
      ['text', { a: '4' }, true],
      ['empty', { a: '' }, false],
      ['missing', {}, false],
    ],
  },
  {
    name: 'cidr',
    when: { field: 'a', cidr: ['10.0.0.0/8', 'fd00::/8', '192.0.2.1'] },
    cases: [
      ['inside', { a: '10.9.8.7' }, true],
      ['with a port', { a: '10.9.8.7:80' }, true],
      ['IPv6', { a: '[fd00::1]:80' }, true],
      ['mapped', { a: '::ffff:10.0.0.1' }, true],
      ['single address', { a: '192.0.2.1' }, true],
      ['outside', { a: '11.0.0.1' }, false],
      ['no address', { a: 'ten' }, false],
      ['number', { a: 10 }, false],
      ['missing', {}, false],
    ],
  },
  { name: 'always', when: { always: true }, cases: [['anything', {}, true]] },
  {
    name: 'input',
    when: { input: 'GELF-udp' },
    cases: [
      ['that receiver', { receiver: 'gelf-UDP' }, true],
      ['another', { receiver: 'gelf-tcp' }, false],
    ],
  },
  {
    name: 'all',
    when: {
      all: [
        { field: 'a', equals: 1 },
        { field: 'b', equals: 2 },
      ],
    },
    cases: [
      ['both', { a: 1, b: 2 }, true],
      ['one', { a: 1 }, false],
    ],
  },
  {
    name: 'any',
    when: {
      any: [
        { field: 'a', equals: 1 },
        { field: 'b', equals: 2 },
      ],
    },
    cases: [
      ['one', { b: 2 }, true],
      ['none', { a: 2 }, false],
    ],
  },
  {
    name: 'not',
    when: { not: { field: 'a', greater: 5 } },
    cases: [
      ['does not hold', { a: 4 }, true],
      ['holds', { a: 6 }, false],
      ['missing: plain negation', {}, true],
    ],
  },
  {
    name: 'nested',
    when: {
      all: [
        {
          not: {
            any: [
              { field: 'a', equals: 1 },
              { field: 'b', exists: true },
            ],
          },
        },
        { field: 'c', contains: 'x' },
      ],
    },
    cases: [
      ['holds', { c: 'xx' }, true],
      ['inner holds', { c: 'x', b: 'y' }, false],
    ],
  },
  {
    name: 'container sees container_name',
    when: { field: 'container', equals: 'x' },
    cases: [
      ['its own', { container: 'x' }, true],
      ['the alias', { container_name: 'x' }, true],
      ['its own goes before', { container: 'y', container_name: 'x' }, false],
    ],
  },
  { name: 'pod_name sees pod', when: { field: 'pod_name', equals: 'x' }, cases: [['the alias', { pod: 'x' }, true]] },
  {
    name: 'namespace_name sees namespace',
    when: { field: 'namespace_name', contains: 'x' },
    cases: [['the alias', { namespace: 'x' }, true]],
  },
  {
    name: 'host sees hostname',
    when: { field: 'host', exists: true },
    cases: [['the alias', { hostname: 'x' }, true]],
  },
  {
    name: 'names that every object has',
    when: { field: 'constructor', exists: true },
    cases: [
      ['missing', {}, false],
      ['sent', { constructor: 'x' }, true],
    ],
  },
];

for (const { name, when, cases } of tables) {
  t.test(`condition ${name}`, async (t) => {
    const ruleSet = compiled({ rules: [{ id: 'r', when, then: [{ set: { field: 'hit', value: true } }] }] });
    for (const [title, document, holds] of cases)
      t.equal(run(ruleSet, document).document['hit'] === true, holds, title);
  });
}
