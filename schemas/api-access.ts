/**
 * Bodies of sessions, users, roles and tokens, in the shapes that existing clients send and read. Unknown members of
 * requests are not looked at.
 */
import { Type, type Static } from 'typebox';

/** The access layer has the exact limits and says them; these keep absurd bodies out. */
const text = (description: string, maxLength = 1_000) => Type.String({ description, maxLength });
const optionalText = (description: string, maxLength?: number) =>
  Type.Optional(Type.Union([text(description, maxLength), Type.Null()]));
const names = (description: string) => Type.Array(Type.String({ maxLength: 200 }), { description, maxItems: 1_000 });
const nullable = <Schema extends ReturnType<typeof Type.String> | ReturnType<typeof Type.Integer>>(schema: Schema) =>
  Type.Union([schema, Type.Null()]);

export const nameParameter = (name: string, description: string) =>
  Type.Object({ [name]: Type.String({ description, minLength: 1, maxLength: 400 }) });

export const sessionRequest = Type.Object(
  {
    username: text('Name of the user, in any case.'),
    password: text('Password.', 4_096),
    host: optionalText('Taken, and not used.'),
  },
  { description: 'A login.' },
);

export const sessionAnswer = Type.Object({
  valid_until: Type.String({ description: 'When the session ends if it is not used: `2026-11-21T18:42:24.065+0000`.' }),
  session_id: Type.String({
    description: 'Shown only here. Basic authentication takes it as the name, with the password `session`.',
  }),
  username: Type.String(),
  user_id: Type.String(),
});

export const sessionState = Type.Object({
  is_valid: Type.Boolean(),
  session_id: nullable(Type.String()),
  username: nullable(Type.String()),
});

export const userAnswer = Type.Object(
  {
    id: Type.String(),
    username: Type.String(),
    email: Type.String(),
    first_name: Type.String(),
    last_name: Type.String(),
    full_name: Type.String(),
    permissions: Type.Optional(names('`streams:read:<id>` and the like; `*` of administrators.')),
    grn_permissions: Type.Optional(names('Empty.')),
    preferences: Type.Record(Type.String(), Type.Unknown()),
    timezone: nullable(Type.String()),
    session_timeout_ms: Type.Integer(),
    external: Type.Boolean({ description: 'Comes from the directory.' }),
    startpage: Type.Unknown(),
    roles: names('Names of roles.'),
    read_only: Type.Boolean(),
    session_active: Type.Boolean(),
    last_activity: nullable(Type.String()),
    client_address: nullable(Type.String()),
    account_status: Type.Union([Type.Literal('enabled'), Type.Literal('disabled')]),
    service_account: Type.Boolean(),
    auth_service_enabled: Type.Boolean(),
  },
  { description: 'A user.' },
);

const userMembers = {
  email: optionalText('Mail address.'),
  full_name: optionalText('Instead of first_name and last_name: cut at the first blank.'),
  first_name: optionalText('First name.'),
  last_name: optionalText('Last name.'),
  permissions: Type.Optional(
    Type.Union([
      names('Roles decide: empty, or of a user that is there none that it has not already. Others are refused.'),
      Type.Null(),
    ]),
  ),
  roles: Type.Optional(Type.Union([names('Names of roles, in any case.'), Type.Null()])),
  timezone: optionalText('A name of the time zone database.'),
  session_timeout_ms: Type.Optional(
    nullable(Type.Integer({ description: 'A session ends when it was not used for this long.' })),
  ),
  startpage: Type.Optional(Type.Unknown({ description: 'Kept for the client.' })),
  preferences: Type.Optional(Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.Null()])),
  service_account: Type.Optional(
    Type.Union([Type.Boolean({ description: 'For programs: cannot open a session.' }), Type.Null()]),
  ),
};

export const newUserBody = Type.Object(
  { username: text('Name.'), password: text('First password.', 4_096), ...userMembers },
  { description: 'A new user.' },
);
export const userBody = Type.Object(userMembers, { description: 'What is to change.' });
export const preferencesBody = Type.Object({ preferences: Type.Record(Type.String(), Type.Unknown()) });
export const passwordBody = Type.Object(
  { password: text('New password.', 4_096), old_password: optionalText("Needed for one's own.", 4_096) },
  { description: 'A change of password.' },
);

export const roleAnswer = Type.Object(
  {
    name: Type.String(),
    description: Type.String(),
    permissions: names(
      '`streams:read:<id>` (Allow reading), `streams:edit:<id>` (Allow editing), `streams:read` (all but Audit logs), capabilities.',
    ),
    read_only: Type.Boolean(),
    origin: Type.Enum(['shipped', 'file', 'api'], {
      description:
        'shipped: comes with the program. file: stands in a rule file, and is changed there. api: made here. Members can be changed in each case.',
    }),
    file: nullable(Type.String({ description: 'Of origin file: which one.' })),
  },
  { description: 'A role.' },
);
export const newRoleBody = Type.Object(
  {
    name: text('Name.'),
    description: optionalText('What it is for.'),
    permissions: Type.Optional(Type.Union([names('As in the answer.'), Type.Null()])),
    read_only: Type.Optional(Type.Unknown()),
  },
  { description: 'A new role.' },
);
export const roleBody = Type.Object(
  {
    name: optionalText('As it is.'),
    description: optionalText('What it is for.'),
    permissions: Type.Optional(Type.Union([names('As in the answer.'), Type.Null()])),
  },
  { description: 'What is to change.' },
);
export const membersAnswer = Type.Object({ role: Type.String(), users: Type.Array(userAnswer) });

export const tokenAnswer = Type.Object({
  id: Type.String(),
  name: Type.String(),
  created_at: Type.String(),
  last_access: Type.String({ description: '1970-01-01T00:00:00.000Z: never.' }),
  expires_at: nullable(Type.String()),
});
export const newTokenBody = Type.Union([
  Type.Object({
    token_ttl: optionalText(
      'ISO 8601 duration, such as P30D; PT0S: it does not end. Default: access.token_ttl_ms.',
      40,
    ),
  }),
  Type.Null(),
]);
export const newTokenAnswer = Type.Object({
  ...tokenAnswer.properties,
  token: Type.String({
    description:
      'The secret; shown only here. Basic authentication takes it as the name, with the password `token`; or as Bearer.',
  }),
});

export type UserAnswer = Static<typeof userAnswer>;
export type UserBody = Static<typeof userBody>;
