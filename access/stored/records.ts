/** What access stores. Every running program reads these records: new members are optional, unknown ones stay. */
import { Type, type Static, type TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import type { Capability } from '../../schemas/access.js';
import type { StateEntry } from '../../state/contract.js';
import { accessErrors } from '../errors.js';

const maybe = <Schema extends TSchema>(schema: Schema) => Type.Optional(Type.Union([schema, Type.Undefined()]));
const texts = Type.Unsafe<readonly string[]>(Type.Array(Type.String()));

const userRecord = Type.Object({
  id: Type.String(),
  username: Type.String(),
  password_hash: maybe(Type.String({ description: 'PHC text; a user of the directory has none.' })),
  external: Type.Boolean(),
  email: Type.String(),
  first_name: Type.String(),
  last_name: Type.String(),
  /** Lower-case names. */
  roles: texts,
  /** Streams that the directory's stream_mapping gave: ids, or 24 hexadecimal characters. */
  read_streams: maybe(texts),
  edit_streams: maybe(texts),
  /** Undefined: the setting. */
  session_timeout_ms: maybe(Type.Number()),
  timezone: maybe(Type.String()),
  startpage: Type.Optional(Type.Unknown()),
  preferences: maybe(Type.Unsafe<Readonly<Record<string, unknown>>>(Type.Object({}))),
  service_account: Type.Boolean(),
  enabled: Type.Boolean(),
  /** Goes up with the password and whenever the sessions of the user end: a session of an older one is not valid. */
  generation: Type.Number(),
  created_at: Type.Number(),
  password_changed_at: maybe(Type.Number()),
});

const roleRecord = Type.Object({
  name: Type.String(),
  description: Type.String(),
  /** Ids of streams, or 24 hexadecimal characters of ones that did not exist then. */
  read: texts,
  edit: texts,
  /** Every stream that is not reserved for administrators. */
  read_all: maybe(Type.Boolean()),
  /** One of a newer version has no effect here, and stays. */
  capabilities: Type.Unsafe<readonly Capability[]>(Type.Array(Type.String())),
  /** As they came, for scripts that read them back; without an effect. */
  other_permissions: texts,
  created_at: Type.Number(),
});

const sessionRecord = Type.Object({
  user_id: Type.String(),
  generation: Type.Number(),
  created_at: Type.Number(),
  used_at: Type.Number(),
  address: Type.String(),
});

const tokenRecord = Type.Object({
  id: Type.String(),
  user_id: Type.String(),
  name: Type.String(),
  created_at: Type.Number(),
  used_at: maybe(Type.Number()),
  /** Undefined: until it is deleted. */
  expires_at: maybe(Type.Number()),
});

export type UserRecord = Readonly<Static<typeof userRecord>>;
export type RoleRecord = Readonly<Static<typeof roleRecord>>;
export type SessionRecord = Readonly<Static<typeof sessionRecord>>;
export type TokenRecord = Readonly<Static<typeof tokenRecord>>;

/** Throws ACCESS_RECORD_INVALID with the key when the value is not such a record. */
export type ReadRecord<Value> = (entry: Pick<StateEntry, 'key' | 'value'>) => Value;

export const readUser = recordReader(userRecord);
export const readRole = recordReader(roleRecord);
export const readSession = recordReader(sessionRecord);
export const readToken = recordReader(tokenRecord);

export function recordReader<Schema extends TSchema>(schema: Schema): ReadRecord<Static<Schema>> {
  const checked = Compile(schema);
  return ({ key, value }) => {
    if (checked.Check(value)) return value;
    const [first] = checked.Errors(value);
    throw accessErrors.create('ACCESS_RECORD_INVALID', {
      place: `${key}${first?.instancePath ?? ''}`,
      got: first?.message,
    });
  };
}

export const userPrefix = 'users/';
export const rolePrefix = 'roles/';
export const sessionPrefix = 'sessions/';
export const tokenPrefix = 'tokens/';
