import t from 'tap';
import { compilePattern, type Pattern } from '../../rules/pattern.js';
import { obfuscateField, obfuscateText } from '../../rules/obfuscation.js';
import type { RuleTarget } from '../../rules/target.js';
import { rulesText, run } from './support.js';

const stars = '********';
function pattern(source: string): Pattern {
  const compiled = compilePattern(source);
  if ('error' in compiled) throw new Error(compiled.error);
  return compiled;
}

t.test('overlapping matches', async (t) => {
  const check = (left: number, right: number) =>
    obfuscateText('121', {
      patterns: [
        { pattern: pattern('12'), importance: left },
        { pattern: pattern('21'), importance: right },
      ],
      white: [],
      replacement: stars,
    });
  t.equal(check(1, 1), stars, 'equal: joined');
  t.equal(check(2, 1), `${stars}1`, 'the left one is more important');
  t.equal(check(1, 2), `1${stars}`, 'the right one is more important');
  const inside = {
    patterns: [
      { pattern: pattern('b'), importance: 9 },
      { pattern: pattern('abc'), importance: 1 },
    ],
    white: [],
    replacement: stars,
  };
  t.equal(obfuscateText('xabcx b', inside), `x${stars}x ${stars}`, 'inside another: goes');
});

t.test('what is allowed stays, matches without length do not count', async (t) => {
  const obfuscator = {
    patterns: [{ pattern: pattern('\\d*'), importance: 1 }],
    white: [pattern('555')],
    replacement: '#',
  };
  t.equal(obfuscateText('a555b55c', obfuscator), 'a555b#c');
});

t.test('off by default; on: only the streams and fields named, after routing', async (t) => {
  const message = 'ssn 123-45-6789, pass AB1234567, sim 8912345678901234567, phone 12345';
  t.equal(run(rulesText(), { message, log_id: 'audit' }).document['message'], message);
  const on = rulesText('obfuscation: {enabled: true}');
  const { document } = run(on, { message, full_message: message, other: message, log_id: 'audit' });
  t.equal(document['message'], `ssn ${stars}, pass ${stars}, sim ${stars}, phone 12345`);
  t.equal(document['full_message'], document['message']);
  t.equal(document['other'], message);
  t.equal(run(on, { message }).document['message'], message, 'not in Audit logs');
});

t.test('the shipped patterns', async (t) => {
  const on = rulesText('obfuscation: {enabled: true}');
  const hidden = (text: string) => run(on, { message: text, log_id: 'audit' }).document['message'] !== text;
  for (const text of [
    '123-45-6789',
    '001-01-0001',
    '899-99-9999',
    'ab1234567',
    '123456789',
    '89123456789012345678',
    '8912345678901234567',
  ])
    t.ok(hidden(text), text);
  for (const text of [
    '000-45-6789',
    '666-45-6789',
    '900-45-6789',
    '123-00-6789',
    '123-45-0000',
    '1123-45-6789',
    'abc1234567',
    '1234567890',
    '89123456789',
    'x89123456789012345678',
  ])
    t.notOk(hidden(text), text);
});

t.test('settings are joined over the files: one pattern off, another added, other text allowed', async (t) => {
  const ruleSet = rulesText(
    'obfuscation: {enabled: true, replacement: "[gone]", patterns: [{id: passport-number, enabled: false}, {id: mine, pattern: "secret-\\\\w+"}], white_patterns: [{id: w, pattern: secret-santa}]}',
  );
  const { document } = run(ruleSet, { message: '123456789 secret-x secret-santa 123-45-6789', log_id: 'audit' });
  t.equal(document['message'], '123456789 [gone] secret-santa [gone]');
});

t.test('a field that cannot be searched is removed, and the document says so', async (t) => {
  const broken = {
    ...pattern('x'),
    mayMatch: () => {
      throw new Error('defect');
    },
  };
  const document: Record<string, string | readonly string[]> = { message: 'secret' };
  const target: RuleTarget = {
    document,
    context: { messageId: '', receiver: '' },
    set: () => undefined,
    remove: (field) => {
      delete document[field];
    },
    route: () => undefined,
    drop: () => undefined,
    adjust: (note) => {
      document['adjustments'] = [note];
    },
  };
  obfuscateField(target, 'message', { patterns: [{ pattern: broken, importance: 1 }], white: [], replacement: stars });
  t.same(document, { adjustments: ['message removed: it could not be obfuscated'] });
});
