/** Receivers as the API shows and takes them ("inputs"), with the setting names of peers beside our own. */
import { Type, type Static } from 'typebox';
import { apiIdOf } from '../../../core/object-ids.js';
import { ownMember } from '../../../core/own-member.js';
import { invalidMembers } from '../failure.js';
import type { ApiServices } from '../services.js';
import { given, nullable } from './shapes.js';

type Settings = Readonly<Record<string, unknown>>;
type ReceiverOptions = ApiServices['config']['receivers'][number];

export const configuration = Type.Unsafe<Settings>({
  type: 'object',
  additionalProperties: true,
  description:
    'Settings as under `receivers` of the settings file; names of peers such as bind_address and tls_enable are understood too.',
});

export const inputBody = Type.Object(
  {
    title: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
    type: Type.Optional(
      Type.String({ maxLength: 200, description: 'gelf_tcp, gelf_udp, gelf_http, or a name that says so.' }),
    ),
    configuration: Type.Optional(configuration),
    global: Type.Optional(Type.Boolean({ description: 'Taken; every process with the role receiver runs it.' })),
  },
  { description: 'A receiver.' },
);
export type InputBody = Static<typeof inputBody>;

export const inputAnswer = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    title: Type.String(),
    type: Type.String(),
    global: Type.Boolean(),
    origin: Type.Enum(['file', 'api']),
    created_at: nullable(Type.String()),
    creator_user_id: Type.String(),
    configuration,
    attributes: configuration,
    secrets: Type.Array(Type.String(), { description: 'Names of secrets that are set; their values are never shown.' }),
    static_fields: Type.Record(Type.String(), Type.String()),
    node: nullable(Type.String()),
    desired_state: Type.String(),
  },
  { description: 'A receiver.' },
);

export const inputStateAnswer = Type.Object({
  id: Type.String(),
  name: Type.String(),
  state: Type.Enum(['STARTING', 'RUNNING', 'FAILED', 'STOPPED', 'ELSEWHERE'], {
    description: 'In this process; ELSEWHERE: it has no role receiver.',
  }),
  detailed_message: nullable(Type.String()),
  address: nullable(
    Type.Object({ protocol: Type.String(), host: Type.String(), port: Type.Integer(), tls: Type.Boolean() }),
  ),
});

const secretSettings = [['token'], ['tls', 'key_password']] as const;

/** With every default, and without secrets. */
export function showInput(
  options: ReceiverOptions,
  facts: {
    readonly title: string;
    readonly enabled: boolean;
    readonly createdAt: string | null;
    readonly createdBy: string;
    readonly origin: 'file' | 'api';
  },
): Static<typeof inputAnswer> {
  const { name, type, ...rest } = options;
  const settings: Record<string, unknown> = { ...rest };
  const secrets: string[] = [];
  for (const [first, second] of secretSettings) {
    const section = second === undefined ? settings : (settings[first] as Settings | undefined);
    const key = second ?? first;
    if (section === undefined || !(key in section)) continue;
    if (section[key] !== '') secrets.push([first, second].filter((part) => part !== undefined).join('.'));
    const shown = Object.fromEntries(Object.entries(section).filter(([other]) => other !== key));
    if (second === undefined) delete settings[first];
    else settings[first] = shown;
  }
  const { title, enabled, createdAt, createdBy, origin } = facts;
  return {
    id: apiIdOf(name),
    name,
    title,
    type,
    global: true,
    origin,
    created_at: createdAt,
    creator_user_id: createdBy,
    configuration: settings,
    attributes: settings,
    secrets,
    static_fields: {},
    node: null,
    desired_state: enabled ? 'RUNNING' : 'STOPPED',
  };
}

/** Names of peers; those with `undefined` mean nothing here and are taken silently. */
const peerNames: Readonly<Record<string, string | undefined>> = {
  bind_address: 'host',
  max_message_size: 'max_frame_bytes',
  decompress_size_limit: 'max_inflated_bytes',
  max_chunk_size: 'max_body_bytes',
  enable_cors: 'cors',
  number_worker_threads: undefined,
  charset_name: undefined,
  override_source: undefined,
  enable_bulk_receiving: undefined,
  tls_enable: 'tls.enabled',
  tls_cert_file: 'tls.cert_file',
  tls_key_file: 'tls.key_file',
  tls_key_password: 'tls.key_password',
  tls_client_auth_cert_file: 'tls.ca_file',
};
const clientAuth: Readonly<Record<string, string>> = { disabled: 'none', optional: 'optional', required: 'required' };

export interface TakenInput {
  readonly definition: Record<string, unknown>;
  /** See TakenOutput. */
  readonly secrets: Readonly<Record<string, string | undefined>>;
}

/** `type`: of the receiver that is changed. */
export function takeInput(body: InputBody, known: string | undefined): TakenInput {
  const type = body.type === undefined ? known : typeOf(body.type);
  const definition: Record<string, unknown> = given({ type, title: body.title });
  const secrets: Record<string, string | undefined> = {};
  for (const [name, value] of Object.entries(body.configuration ?? {})) {
    if (Object.hasOwn(peerNames, name)) take(definition, secrets, peerNames[name], value);
    else if (name === 'recv_buffer_size')
      take(definition, secrets, type === 'gelf_udp' ? 'receive_buffer_bytes' : undefined, value);
    else if (name === 'use_null_delimiter')
      take(definition, secrets, type === 'gelf_tcp' ? 'framing' : undefined, value === false ? 'newline' : 'null');
    else if (name === 'tcp_keepalive')
      take(definition, secrets, type === 'gelf_tcp' && value === false ? 'keepalive_ms' : undefined, 0);
    else if (name === 'tls_client_auth')
      take(
        definition,
        secrets,
        'tls.client_auth',
        (typeof value === 'string' ? ownMember(clientAuth, value) : undefined) ?? value,
      );
    else if (name === 'tls' && typeof value === 'object' && value !== null)
      for (const [key, inner] of Object.entries(value)) take(definition, secrets, `tls.${key}`, inner);
    else if (!['id', 'name', 'enabled', 'title', 'type'].includes(name)) take(definition, secrets, name, value);
  }
  return { definition, secrets };
}

function take(
  definition: Record<string, unknown>,
  secrets: Record<string, string | undefined>,
  name: string | undefined,
  value: unknown,
): void {
  if (name === undefined || value === undefined) return;
  if (name === 'token' || name === 'tls.key_password') {
    if (value !== null && typeof value !== 'string')
      throw invalidMembers({ [`configuration.${name}`]: ['A text, or null for none.'] });
    secrets[name] = value === null || value === '' ? undefined : value;
    return;
  }
  const [section, key] = name.split('.');
  if (key === undefined) definition[name] = value;
  else definition[section as string] = { ...(definition[section as string] as Settings | undefined), [key]: value };
}

function typeOf(text: string): string {
  const transport = /gelf.*(tcp|udp|http)/i.exec(text)?.[1]?.toLowerCase();
  if (transport === undefined) throw invalidMembers({ type: ['gelf_tcp, gelf_udp or gelf_http.'] });
  return `gelf_${transport}`;
}
