/** Settings of users, sessions and the directory. */
import { Type, type Static } from 'typebox';
import { count, flag, milliseconds, secret } from './common.js';
import { ldapOptions } from './ldap.js';

const firstPassword = (user: string) =>
  secret(
    `First password of the user ${user}; used when the user is created at the first start, never afterwards. None: one is generated and shown once.`,
  );

export const accessOptions = Type.Object(
  {
    session_timeout_ms: Type.Integer({
      description:
        'A session ends when it was not used for this long, for users that have no time of their own. In milliseconds.',
      default: 8 * 3_600_000,
      minimum: 1_000,
    }),
    minimum_password_length: count('Fewest characters of a new password.', 6, 1),
    hash_concurrency: count(
      'Passwords that are hashed at the same time; each takes 19 MiB and one thread of the pool of four for about 30 ms.',
      2,
      1,
    ),
    token_ttl_ms: milliseconds(
      'How long a new access token is valid when the request names no time; 0: until it is deleted.',
      30 * 24 * 3_600_000,
    ),
    verified_for_ms: milliseconds(
      'How long a password that came with a request stays verified, so that scripts with Basic authentication do not pay a hash each time; 0: never.',
      60_000,
    ),
    throttle: flag('Slow down those who try passwords.', true),
    first_passwords: Type.Object(
      {
        admin: firstPassword('Admin'),
        operator: firstPassword('Operator'),
        audit_viewer: firstPassword('AuditViewer'),
      },
      { additionalProperties: false, default: {}, description: 'First passwords of the users that ship.' },
    ),
    ldap: ldapOptions,
  },
  { additionalProperties: false, default: {}, description: 'Users, sessions, passwords and the directory.' },
);

export type AccessOptions = Static<typeof accessOptions>;
