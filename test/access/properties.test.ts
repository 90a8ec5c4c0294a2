/**
 * Whatever is typed: permissions never open what is kept, names keep their meaning, and nothing throws what is not
 * declared.
 */
import fc from 'fast-check';
import t from 'tap';
import { defaultRoles } from '../../access/rights/default-roles.js';
import type { Role } from '../../access/contract.js';
import { keyOfName } from '../../core/names.js';
import { checkName, storeKey } from '../../access/stored/names.js';
import { readPermissions, rolePermissionTexts } from '../../access/rights/permissions.js';
import { covers, rightsOf } from '../../access/rights/rights.js';
import { apiIdOf } from '../../core/object-ids.js';
import { isSluiceError } from '../../core/errors.js';
import { mayReadStream, type Identity } from '../../schemas/access.js';
import { administrator, shippedStreams } from './support.js';

const ids = shippedStreams.map(({ id }) => id);
const word = fc.oneof(
  fc.constantFrom(
    'streams:read',
    'streams:edit',
    'streams:read:*',
    '*',
    'dead-letters',
    'audit:read',
    'views:edit',
    'users:edit',
    'outputs:edit',
    'dashboards:read:1',
  ),
  fc
    .tuple(fc.constantFrom('read', 'edit'), fc.constantFrom(...ids, ...ids.map(apiIdOf), 'unknown', 'f'.repeat(24)))
    .map(([right, id]) => `streams:${right}:${id}`),
  fc.string({ unit: 'binary', maxLength: 40 }),
);

function roleOf(texts: readonly string[]): Role | undefined {
  try {
    const rights = readPermissions(texts, shippedStreams);
    return {
      name: 'x',
      description: '',
      read: rights.read_all === true ? 'all' : rights.read,
      edit: rights.edit,
      audit: false,
      administrator: false,
      capabilities: rights.capabilities,
      otherPermissions: rights.other_permissions,
      origin: 'api',
      file: undefined,
    };
  } catch (thrown) {
    if (isSluiceError(thrown) && thrown.code === 'ACCESS_VALUE_INVALID') return undefined;
    throw thrown;
  }
}

const holder = (roles: readonly Role[]): Identity => ({ ...administrator, ...rightsOf({}, roles, shippedStreams) });

await t.test('no list of permissions opens Audit logs, dead letters or full rights', async (test) => {
  let accepted = 0;
  fc.assert(
    fc.property(fc.array(word, { maxLength: 6 }), (texts) => {
      const role = roleOf(texts);
      if (role === undefined) return true;
      accepted += 1;
      const rights = rightsOf({}, [role], shippedStreams);
      return (
        !rights.administrator &&
        !rights.scope.deadLetters &&
        !mayReadStream(rights.scope, 'audit-logs') &&
        rights.editableStreams !== 'all' &&
        !rights.editableStreams.includes('audit-logs') &&
        !rights.capabilities.has('dead-letters') &&
        !rights.capabilities.has('audit:read')
      );
    }),
    { seed: 6, numRuns: 5_000 },
  );
  test.ok(accepted > 500, `${accepted} lists were accepted`);
});

await t.test('what is read back can be sent again, and means the same', async (test) => {
  fc.assert(
    fc.property(fc.array(word, { maxLength: 6 }), (texts) => {
      const role = roleOf(texts);
      if (role === undefined) return true;
      const again = roleOf(rolePermissionTexts(role));
      return (
        again !== undefined &&
        JSON.stringify(rightsOf({}, [again], shippedStreams).scope) ===
          JSON.stringify(rightsOf({}, [role], shippedStreams).scope)
      );
    }),
    { seed: 6, numRuns: 2_000 },
  );
  test.pass('2,000 lists');
});

await t.test('who gives a role has every right of it', async (test) => {
  const roles = fc.subarray([...defaultRoles.values()]);
  fc.assert(
    fc.property(roles, roles, fc.array(word, { maxLength: 4 }), (held, given, texts) => {
      const own = roleOf(texts);
      const by = holder(held);
      const rights = rightsOf({}, [...given, ...(own === undefined ? [] : [own])], shippedStreams);
      if (!covers(by, rights)) return true;
      const reads = ids.every((id) => !mayReadStream(rights.scope, id) || mayReadStream(by.scope, id));
      const edits =
        rights.editableStreams === 'all'
          ? by.editableStreams === 'all'
          : rights.editableStreams.every((id) => by.editableStreams === 'all' || by.editableStreams.includes(id));
      return (
        reads &&
        edits &&
        (!rights.administrator || by.administrator) &&
        [...rights.capabilities].every((one) => by.administrator || by.capabilities.has(one))
      );
    }),
    { seed: 6, numRuns: 3_000 },
  );
  test.pass('3,000 pairs');
});

await t.test('a name that is taken keeps its letters, is found in any case, and fits a key', async (test) => {
  fc.assert(
    fc.property(
      fc.oneof(fc.string({ unit: 'grapheme', maxLength: 120 }), fc.string({ unit: 'binary', maxLength: 30 })),
      (text) => {
        let name: string;
        try {
          name = checkName('username', text);
        } catch (thrown) {
          return isSluiceError(thrown) && thrown.code === 'ACCESS_VALUE_INVALID';
        }
        const key = storeKey('users/', name);
        return (
          name === text.normalize('NFC') &&
          !/[:/\n\r\0]/.test(name) &&
          key.length <= 70 &&
          /^users\/[a-z0-9._@~-]+$/.test(key) &&
          storeKey('users/', keyOfName(name)) === key
        );
      },
    ),
    { seed: 6, numRuns: 5_000 },
  );
  test.pass('5,000 texts');
});
