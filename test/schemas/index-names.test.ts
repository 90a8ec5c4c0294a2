import t from 'tap';
import {
  indexName,
  indexNumber,
  indexPattern,
  indexPrefix,
  indicesOf,
  isIndexName,
  namesCanMeet,
} from '../../schemas/index-names.js';

t.test('names are made and read back', async (t) => {
  t.equal(indexName('sluice_default', 12), 'sluice_default_12');
  t.equal(indexPattern('sluice_default'), 'sluice_default_*');
  for (const number of [0, 7, 999_999_999_999_999]) {
    const name = indexName('a_b', number);
    t.ok(isIndexName(name), name);
    t.equal(indexNumber(name, 'a_b'), number);
    t.equal(indexPrefix(name), 'a_b');
  }
});

t.test('number and prefix of a name', async (t) => {
  const rows: readonly (readonly [name: string, number: number | undefined, prefix: string | undefined])[] = [
    ['set_0', 0, 'set'],
    ['set_012', 12, 'set'],
    ['set_', undefined, undefined],
    ['set_x', undefined, undefined],
    ['set', undefined, undefined],
    ['_1', undefined, undefined],
    ['set_1_2', undefined, 'set_1'],
    ['other_1', undefined, 'other'],
    ['set_-1', undefined, undefined],
    ['set_1234567890123456', undefined, undefined],
  ];
  for (const [name, number, prefix] of rows) {
    t.equal(indexNumber(name, 'set'), number, name);
    t.equal(indexPrefix(name), prefix, name);
  }
});

t.test('what may be the name of an index', async (t) => {
  for (const name of ['a_0', 'a.b-c+d_12', `${'a'.repeat(198)}_1`]) t.ok(isIndexName(name), name);
  for (const name of ['', 'a', 'A_0', '_0', '../a_0', 'a/b_0', 'a*_0', 'a_x', `${'a'.repeat(199)}_1`])
    t.notOk(isIndexName(name), name);
});

t.test('indices of a prefix come by their numbers, others not at all', async (t) => {
  const names = ['set_10', 'set_9', 'set_x', 'set_1_1', 'other_1', 'set_2'];
  t.same(
    indicesOf('set', names, (name) => name),
    ['set_2', 'set_9', 'set_10'],
  );
});

t.test('prefixes whose index names could meet', async (t) => {
  t.ok(namesCanMeet('sluice', 'sluice_audit'));
  t.notOk(namesCanMeet('sluice_audit', 'sluice_auditor'));
  t.notOk(namesCanMeet('sluice', 'sluice'));
});
