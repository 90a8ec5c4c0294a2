/** Settings of an LDAP or Active Directory server that users come from. */
import { Type, type Static } from 'typebox';
import { flag, secret, text } from './common.js';

const names = (description: string) => Type.Array(Type.String({ minLength: 1 }), { description });

const roleMapping = Type.Object(
  {
    group: Type.String({
      description:
        'Name of the group: its common name or its whole distinguished name, any case; * stands for any characters.',
      minLength: 1,
    }),
    roles: names('Roles of the users of that group.'),
  },
  { additionalProperties: false },
);

const streamMapping = Type.Object(
  {
    group: Type.String({ description: 'Name of the group, as in role_mapping.', minLength: 1 }),
    streams: names('Title or id of a stream (any case), with /view or /edit behind it; without, it is /view.'),
  },
  { additionalProperties: false },
);

export const ldapOptions = Type.Object(
  {
    enabled: flag('Ask the directory about users that are not known here.', false),
    urls: Type.Array(Type.String({ pattern: '^ldaps?://[^/?#\\s]+/?$' }), {
      description: 'Servers, ldap://host:port or ldaps://host:port; asked in order until one answers.',
      default: [],
    }),
    start_tls: flag('Turn an ldap:// connection into an encrypted one before anything is sent.', false),
    ca_file: text("Certificate authorities to trust instead of the system's, PEM.", ''),
    reject_unauthorized: flag('Refuse a server whose certificate cannot be verified.', true),
    bind_dn: text('Distinguished name that searches; empty: anonymous.', ''),
    bind_password: secret('Password of bind_dn.'),
    search_base: text('Where users are searched, with everything below.', ''),
    search_filter: text(
      'How a user is found; {user} stands for the name as typed, escaped. Active Directory: (sAMAccountName={user}).',
      '(uid={user})',
    ),
    name_attribute: text('Attribute with the name of the user; what the user typed when it is missing.', 'uid'),
    full_name_attribute: text('Attribute with the full name.', 'cn'),
    email_attribute: text('Attribute with the mail address.', 'mail'),
    group_attribute: text(
      'Attribute of the user with the distinguished names of the groups; empty: groups are searched.',
      'memberOf',
    ),
    group_search_base: text('Where groups are searched; empty: they are not.', ''),
    group_search_filter: text(
      'How the groups of a user are found; {dn} and {user} are replaced, escaped.',
      '(|(member={dn})(uniqueMember={dn})(memberUid={user}))',
    ),
    role_mapping: Type.Array(roleMapping, {
      description: 'Roles by group, in order: the first entry that one of the groups of the user matches is taken.',
      default: [],
    }),
    default_roles: Type.Array(Type.String({ minLength: 1 }), {
      description: 'Roles of a user that no entry of role_mapping fits. Empty: such a user is refused.',
      default: [],
    }),
    stream_mapping: Type.Array(streamMapping, {
      description: 'Streams by group; all entries that match are added.',
      default: [],
    }),
    timeout_ms: Type.Integer({
      description: 'Longest wait for a connection, and for an answer. In milliseconds.',
      default: 5_000,
      minimum: 100,
      maximum: 60_000,
    }),
  },
  {
    additionalProperties: false,
    default: {},
    description:
      'LDAP or Active Directory. Users that are known here come first and are never asked for there. Can be set through the API instead, when it is not enabled here.',
  },
);

export type LdapOptions = Static<typeof ldapOptions>;
