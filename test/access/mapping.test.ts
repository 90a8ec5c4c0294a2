import fc from 'fast-check';
import t from 'tap';
import { fillFilter } from '../../access/directory/ldap.js';
import { matches, rightsByGroups } from '../../access/directory/mapping.js';
import { defaultRoles } from '../../access/rights/default-roles.js';
import { FilterParser } from 'ldapts';
import { shippedStreams } from './support.js';

const roles = [...defaultRoles.values()];
const mapped = (
  roleMapping: readonly (readonly [string, string[]])[],
  groups: readonly string[],
  defaults: string[] = [],
) =>
  rightsByGroups(
    {
      role_mapping: roleMapping.map(([group, names]) => ({ group, roles: names })),
      default_roles: defaults,
      stream_mapping: [],
    },
    groups,
    roles,
    shippedStreams,
  ).roles;

await t.test('the first entry that fits one of the groups is taken', async (test) => {
  const groups = ['cn=Staff,dc=x', 'CN=Log Admins\\, EU,OU=groups,dc=x'];
  test.same(
    mapped(
      [
        ['log admins, eu', ['Administrator']],
        ['staff', ['Reader']],
      ],
      groups,
    ),
    ['administrator'],
  );
  test.same(
    mapped(
      [
        ['staff', ['Reader', 'Operator']],
        ['log admins, eu', ['Administrator']],
      ],
      groups,
    ),
    ['reader', 'operator'],
  );
  test.same(mapped([['log*EU', ['Operator']]], groups), ['operator'], 'a star, any case');
  test.same(mapped([['cn=staff,dc=x', ['Reader']]], groups), ['reader'], 'the whole distinguished name');
  test.same(mapped([['taff', ['Reader']]], groups, ['AuditViewer']), ['auditviewer'], 'nothing fits: the defaults');
  test.same(mapped([['staff', ['No such role']]], groups, ['Reader']), [], 'a role that does not exist gives nothing');
  test.same(mapped([['zoë', ['Reader']]], ['cn=Zo\\c3\\ab,dc=x']), ['reader'], 'escaped bytes of a name');
});

await t.test('a glob matches as the regular expression of the same meaning does', async (test) => {
  const letters = fc.stringMatching(/^[ab*]{0,8}$/);
  fc.assert(
    fc.property(letters, fc.stringMatching(/^[ab]{0,10}$/), (pattern, text) => {
      const expected = new RegExp(`^${pattern.replaceAll(/\*+/g, '.*')}$`).test(text);
      return matches(pattern, text) === expected;
    }),
    { seed: 6, numRuns: 3_000 },
  );
  test.pass('3,000 pairs');
});

await t.test('whatever a user types stays one value of the filter', async (test) => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), (user) => {
      const filter = FilterParser.parseString(fillFilter('(&(objectClass=person)(uid={user}))', { user }));
      const parts = (filter as unknown as { filters: { attribute: string; value: string }[] }).filters;
      return parts.length === 2 && parts[1]?.attribute === 'uid' && parts[1].value === user;
    }),
    { seed: 6, numRuns: 500 },
  );
  for (const user of ['*', ')(uid=*', '\\', '\0', 'a(b)c', 'x=y:z']) {
    const filter = FilterParser.parseString(fillFilter('(uid={user})', { user })) as unknown as { value: string };
    test.equal(filter.value, user);
  }
  test.equal(fillFilter('(cn={dn})', { user: 'x' }), '(cn={dn})', 'a placeholder without a value stays');
});
