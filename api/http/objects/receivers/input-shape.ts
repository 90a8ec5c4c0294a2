/** Receivers as the API shows and takes them ("inputs"), with Graylog's names of settings beside our own. */
import { Type, type Static } from 'typebox';
import { apiIdOf } from '../../../../core/object-ids.js';
import { invalidMembers } from '../../failure.js';
import type { ApiServices } from '../../services.js';
import { receiverTypes, type ReceiverDescription } from '../../../../schemas/receiver-kinds.js';
import { given, nullable } from '../shapes.js';

type Settings = Readonly<Record<string, unknown>>;
type ReceiverOptions = ApiServices['config']['receivers'][number];

const configuration = Type.Unsafe<Settings>({
  type: 'object',
  additionalProperties: true,
  description:
    'Settings as under `receivers` of the settings file; names of peers such as bind_address and tls_enable are understood too.',
});

export function inputBodyOf(kinds: readonly ReceiverDescription[]) {
  const types = kinds.map(({ type }) => type).join(', ');
  return Type.Object(
    {
      title: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
      type: Type.Optional(Type.String({ maxLength: 200, description: `${types}, or a name that says so.` })),
      configuration: Type.Optional(configuration),
      global: Type.Optional(Type.Boolean({ description: 'Taken; every process with the role receiver runs it.' })),
    },
    { description: 'A receiver.' },
  );
}
export type InputBody = Static<ReturnType<typeof inputBodyOf>>;

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

/** Names of the secrets among the settings, those of a section with a dot: `tls.key_password`. */
function secretNames(schema: SecretSchema | undefined, prefix = ''): readonly string[] {
  return Object.entries(schema?.properties ?? {}).flatMap(([name, one]) =>
    one.secret === true ? [prefix + name] : secretNames(one, `${prefix}${name}.`),
  );
}

interface SecretSchema {
  readonly secret?: boolean;
  readonly properties?: Readonly<Record<string, SecretSchema>>;
}

const secretsOf = (kinds: readonly ReceiverDescription[], type: string | undefined): readonly string[] =>
  secretNames(kinds.find((kind) => kind.type === type)?.settings);

/** With every default, and without secrets. */
export function showInput(
  options: ReceiverOptions,
  kinds: readonly ReceiverDescription[],
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
  for (const secret of secretsOf(kinds, type)) {
    const [first = '', second] = secret.split('.');
    const section = second === undefined ? settings : (settings[first] as Settings | undefined);
    const key = second ?? first;
    if (section === undefined || !(key in section)) continue;
    if (section[key] !== '') secrets.push(secret);
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

interface TakenInput {
  readonly definition: Record<string, unknown>;
  /** See TakenOutput. */
  readonly secrets: Readonly<Record<string, string | undefined>>;
}

/** What stands beside the settings of a receiver, or is given elsewhere. */
const notSettings: readonly string[] = ['id', 'name', 'enabled', 'title', 'type'];

/** `known`: the type of the receiver that is changed. */
export function takeInput(
  body: InputBody,
  known: string | undefined,
  kinds: readonly ReceiverDescription[],
): TakenInput {
  const type = body.type === undefined ? known : typeOf(body.type, kinds);
  const graylogSettings = kinds.find((kind) => kind.type === type)?.graylogSettings ?? {};
  const taken = new TakenSettings(given({ type, title: body.title }), secretsOf(kinds, type));
  for (const [name, value] of Object.entries(body.configuration ?? {})) {
    if (Object.hasOwn(graylogSettings, name)) {
      const own = graylogSettings[name];
      const setting = typeof own === 'function' ? own(value) : { name: own, value };
      taken.add(setting?.name, setting?.value);
    } else if (name === 'tls' && typeof value === 'object' && value !== null) {
      for (const [key, inner] of Object.entries(value)) taken.add(`tls.${key}`, inner);
    } else if (!notSettings.includes(name)) {
      taken.add(name, value);
    }
  }
  return taken;
}

class TakenSettings implements TakenInput {
  readonly definition: Record<string, unknown>;
  readonly secrets: Record<string, string | undefined> = {};
  readonly #secretNames: readonly string[];

  constructor(definition: Record<string, unknown>, secretNames: readonly string[]) {
    this.definition = definition;
    this.#secretNames = secretNames;
  }

  /** Nothing where there is no name or no value. */
  add(name: string | undefined, value: unknown): void {
    if (name === undefined || value === undefined) return;
    if (this.#secretNames.includes(name)) {
      if (value !== null && typeof value !== 'string')
        throw invalidMembers({ [`configuration.${name}`]: ['A text, or null for none.'] });
      this.secrets[name] = value === null || value === '' ? undefined : value;
      return;
    }
    const [section = '', key] = name.split('.');
    if (key === undefined) this.definition[name] = value;
    else this.definition[section] = { ...(this.definition[section] as Settings | undefined), [key]: value };
  }
}

/** A type of ours, or a name with its words in it: `org.graylog2.inputs.gelf.tcp.GELFTCPInput` is gelf_tcp. */
function typeOf(text: string, kinds: readonly ReceiverDescription[]): string {
  const kind = kinds.find(({ type }) => new RegExp(type.split('_').join('.*'), 'i').test(text));
  if (kind === undefined) throw invalidMembers({ type: [`${receiverTypes(kinds)}.`] });
  return kind.type;
}
