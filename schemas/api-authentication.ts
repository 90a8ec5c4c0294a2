/** Bodies of the directory's settings. The password of bind_dn goes in and never comes out. */
import { Type, type Static } from 'typebox';
import { ldapOptions } from './config/ldap.js';

type Members = Omit<typeof ldapOptions.properties, 'bind_password'>;
/** Without the defaults of the settings file: what is left out stays. */
const plain = <Schema extends object>(schema: Schema): Schema =>
  Object.fromEntries(Object.entries(schema).filter(([name]) => name !== 'default')) as Schema;
const members = Object.entries(ldapOptions.properties)
  .filter(([name]) => name !== 'bind_password')
  .map(([name, schema]) => [name, Type.Optional(plain(schema))]);
const optional = Object.fromEntries(members) as {
  readonly [Name in keyof Members]: ReturnType<typeof Type.Optional<Members[Name]>>;
};
/** A word that is not known is refused: what it was meant to secure would be left open. */
const closed = { additionalProperties: false } as const;

export const directoryBody = Type.Object(
  {
    ...optional,
    bind_password: Type.Optional(
      Type.Union([
        Type.String({ description: 'Password of bind_dn. Left out: as it is.', maxLength: 4_096 }),
        Type.Null(),
      ]),
    ),
  },
  {
    ...closed,
    description: 'Settings of the directory; what is left out stays. The words of the settings file, docs/access.md.',
  },
);

export const directoryAnswer = Type.Object({
  from_file: Type.Boolean({ description: 'The settings file sets it: it cannot be changed here.' }),
  bind_password_set: Type.Boolean(),
  settings: Type.Record(Type.String(), Type.Unknown()),
});

/** Settings stand in the body as PUT has them, or under `settings`. */
const triedSettings = { ...directoryBody.properties, settings: Type.Optional(directoryBody) };
export const connectionTestBody = Type.Optional(Type.Object(triedSettings, closed));
export const loginTestBody = Type.Object(
  { username: Type.String({ maxLength: 256 }), password: Type.String({ maxLength: 4_096 }), ...triedSettings },
  closed,
);

export const testAnswer = Type.Object({
  success: Type.Boolean(),
  message: Type.String(),
  user: Type.Optional(
    Type.Object({
      dn: Type.String(),
      username: Type.String(),
      full_name: Type.String(),
      email: Type.String(),
      groups: Type.Array(Type.String()),
    }),
  ),
  roles: Type.Optional(Type.Array(Type.String())),
  streams: Type.Optional(Type.Array(Type.String())),
});

export type DirectoryBody = Static<typeof directoryBody>;
export type TriedSettings = DirectoryBody & { readonly settings?: DirectoryBody | undefined };
