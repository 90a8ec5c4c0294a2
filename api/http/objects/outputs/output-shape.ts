/** Outputs as the API shows and takes them. Secrets go in and never come out. */
import { Type, type Static } from 'typebox';
import { apiIdOf } from '../../../../core/object-ids.js';
import type { Catalog, CatalogItem } from '../../../../definitions/contract.js';
import type { OutputProtocol } from '../../../../schemas/outputs/format.js';
import { outputFormats } from '../../../../schemas/outputs/formats.js';
import { has, mayReadStream, type Identity } from '../../../../schemas/access.js';
import type { OutputStatus } from '../../../../pipeline/forwarding/contract.js';
import { invalidMembers } from '../../failure.js';
import { given, listOf, nullable, originFields, originOf, textOf } from '../shapes.js';

type Settings = Readonly<Record<string, unknown>>;

/** Secret settings, which are stored apart: section and key. */
const secretSettings: readonly (readonly [section: string, key: string])[] = [
  ...outputFormats.flatMap(({ type, secrets }) => secrets.map((key) => [type, key] as const)),
  ['tls', 'key_password'],
];
const files = ['ca_file', 'cert_file', 'key_file'] as const;

const configuration = Type.Unsafe<Settings>({
  type: 'object',
  additionalProperties: true,
  description:
    'hostname (or host), port, protocol (TCP, UDP, HTTP, TCP+TLS), and further settings of outputs in rule files: tls, gelf, syslog, on_full, max_waiting, max_age, ... Secrets: gelf.token and tls.key_password.',
});
const placeFields = {
  host: Type.Optional(Type.String({ maxLength: 253, description: 'Destination host; here or in configuration.' })),
  port: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 65_535, description: 'Destination port; here or in configuration.' }),
  ),
  transport: Type.Optional(Type.String({ maxLength: 20, description: 'TCP or UDP; here or in configuration.' })),
};
export const outputBody = Type.Object(
  {
    title: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
    type: Type.Optional(Type.String({ maxLength: 200, description: 'GELF or SYSLOG, or a name that says so.' })),
    configuration: Type.Optional(configuration),
    streams: Type.Optional(
      Type.Array(Type.String({ maxLength: 200 }), { maxItems: 1_000, description: 'Streams whose messages are sent.' }),
    ),
    enabled: Type.Optional(Type.Boolean()),
    ...placeFields,
  },
  { description: 'An output.' },
);
export type OutputBody = Static<typeof outputBody>;

const figure = nullable(Type.Integer());
export const outputState = Type.Object(
  {
    state: Type.String({
      description: 'idle, connecting, connected, waiting, stopped (until its settings change) or paused.',
    }),
    address: Type.String(),
    lag: nullable(Type.Integer({ description: 'Messages that wait.' })),
    oldest: nullable(Type.String({ description: 'When the oldest message that waits was received.' })),
    sent: figure,
    failed: figure,
    dropped: figure,
    unconfirmed_messages: figure,
    last_error: nullable(Type.String()),
    last_error_at: nullable(Type.String()),
  },
  {
    description:
      'What the output does now, since this process began to work on it. Figures are null for who may not read all its streams, and has no outputs:edit.',
  },
);

export const outputAnswer = Type.Object(
  {
    id: Type.String(),
    ...originFields,
    title: Type.String(),
    type: Type.String(),
    enabled: Type.Boolean(),
    host: Type.String(),
    port: Type.Integer(),
    transport: Type.String(),
    configuration,
    streams: Type.Array(Type.String()),
    secrets: Type.Array(Type.String(), { description: 'Names of secrets that are set; their values are never shown.' }),
    content_pack: Type.Null(),
    state: nullable(outputState),
  },
  { description: 'An output.' },
);

/** Kinds of outputs, for those who make one. */
export const outputTypes: Readonly<Record<string, { name: string; human_name: string; transports: string[] }>> =
  Object.fromEntries(
    outputFormats.map(({ title, description, protocols }) => [
      title,
      { name: title, human_name: description, transports: protocols.flatMap(transportsOf) },
    ]),
  );

function transportsOf(protocol: OutputProtocol): string[] {
  const transport = protocol.toUpperCase();
  return protocol === 'udp' ? [transport] : [transport, `${transport}+TLS`];
}

/** `counted`: whether the asker may know how many messages its streams have. */
export function showState(status: OutputStatus | undefined, counted: boolean): Static<typeof outputState> | null {
  if (status === undefined) return null;
  const {
    state,
    address,
    lag,
    oldest = null,
    sent,
    failed,
    dropped,
    unconfirmedMessages,
    lastError,
    lastErrorAt,
  } = status;
  const figures = { lag, oldest, sent, failed, dropped, unconfirmed_messages: unconfirmedMessages };
  const hidden = { lag: null, oldest: null, sent: null, failed: null, dropped: null, unconfirmed_messages: null };
  return {
    state,
    address,
    ...(counted ? figures : hidden),
    last_error: lastError ?? null,
    last_error_at: lastErrorAt === undefined ? null : new Date(lastErrorAt).toISOString(),
  };
}

export function countsOutput(streams: readonly string[], identity: Identity): boolean {
  return has(identity, 'outputs:edit') || streams.every((stream) => mayReadStream(identity.scope, stream));
}

const shownApart: ReadonlySet<string> = new Set([
  'id',
  'title',
  'type',
  'enabled',
  'host',
  'port',
  'protocol',
  'streams',
]);

/** Shows only those of its streams that the asker may see. */
export function showOutput(
  item: CatalogItem,
  allStreams: readonly string[],
  identity: Identity,
  status: OutputStatus | undefined,
): Static<typeof outputAnswer> {
  const { settings, stored } = item;
  const { title, type, enabled, host, port, protocol } = settings;
  const rest = Object.fromEntries(Object.entries(settings).filter(([name]) => !shownApart.has(name)));
  const secrets = secretSettings.filter(
    ([section, key]) =>
      (settings[section] as Settings | undefined)?.[key] !== undefined ||
      stored?.secrets[`${section}.${key}`] !== undefined,
  );
  const transport = textOf(protocol, 'tcp').toUpperCase();
  return {
    ...originOf(item),
    title: textOf(title, item.id),
    type: textOf(type).toUpperCase(),
    enabled: enabled !== false,
    host: textOf(host),
    port: Number(port ?? 0),
    transport,
    configuration: { hostname: textOf(host), port: Number(port ?? 0), protocol: transport, ...withoutSecrets(rest) },
    streams: allStreams.filter((stream) => mayReadStream(identity.scope, stream)).map(apiIdOf),
    secrets: secrets.map((path) => path.join('.')),
    content_pack: null,
    state: showState(status, countsOutput(allStreams, identity)),
  };
}

function withoutSecrets(settings: Settings): Settings {
  const shown: Record<string, unknown> = { ...settings };
  for (const [section, key] of secretSettings) {
    if (shown[section] !== undefined)
      shown[section] = Object.fromEntries(Object.entries(shown[section] as Settings).filter(([name]) => name !== key));
  }
  return shown;
}

/** Members of the body, or Graylog's names of them. In `configuration` they would pass by the checks of the routes. */
const takenApart: ReadonlySet<string> = new Set([...shownApart, 'hostname', 'transport']);

export interface TakenOutput {
  readonly definition: Record<string, unknown>;
  /** Undefined values: forget this secret. Names that are missing: as before. */
  readonly secrets: Readonly<Record<string, string | undefined>>;
}

export function takeOutput(body: OutputBody): TakenOutput {
  const { hostname, host, port, protocol, transport } = (body.configuration ?? {}) as Record<string, unknown>;
  const rest = Object.fromEntries(Object.entries(body.configuration ?? {}).filter(([name]) => !takenApart.has(name)));
  const wanted = body.transport ?? protocol ?? transport;
  const [base, tls] = typeof wanted === 'string' ? wanted.toLowerCase().split('+') : [wanted, undefined];
  const definition = given({
    ...rest,
    title: body.title,
    type: body.type === undefined ? undefined : typeOf(body.type),
    enabled: body.enabled,
    host: body.host ?? hostname ?? host,
    port: body.port ?? port,
    protocol: base,
    tls: rest['tls'] ?? (tls === 'tls' ? { enabled: true } : undefined),
  });
  const secrets: Record<string, string | undefined> = {};
  for (const [section, key] of secretSettings) takeSecret(definition, section, key, secrets);
  for (const file of files) assertPlainName(definition, file);
  return { definition, secrets };
}

/** The type or the title of a format, or the name of a class that holds the type: `org.graylog2.outputs.GelfOutput`. */
function typeOf(text: string): string {
  const wanted = text.toLowerCase();
  const named = outputFormats.find(({ type, title }) => type === wanted || title.toLowerCase() === wanted);
  const format = named ?? outputFormats.find(({ type }) => wanted.includes(type));
  if (format === undefined)
    throw invalidMembers({ type: [`${outputFormats.map(({ title }) => title).join(' or ')}.`] });
  return format.type;
}

function takeSecret(
  definition: Record<string, unknown>,
  section: string,
  key: string,
  secrets: Record<string, string | undefined>,
): void {
  const settings = definition[section];
  if (typeof settings !== 'object' || settings === null || !(key in settings)) return;
  const value = (settings as Settings)[key];
  if (value !== null && typeof value !== 'string')
    throw invalidMembers({ [`configuration.${section}.${key}`]: ['A text, or null for none.'] });
  secrets[`${section}.${key}`] = value === null || value === '' ? undefined : value;
  definition[section] = Object.fromEntries(Object.entries(settings).filter(([name]) => name !== key));
}

/** Whoever may make an output may not make the server read any file it can. */
function assertPlainName({ tls }: Record<string, unknown>, file: string): void {
  const name = (tls as Settings | undefined | null)?.[file];
  if (name === undefined || name === '') return;
  if (typeof name !== 'string' || !/^[A-Za-z0-9_][A-Za-z0-9._-]*$/.test(name))
    throw invalidMembers({
      [`configuration.tls.${file}`]: ['The name of a file in the rule folder, without any path.'],
    });
}

/** Streams of an output, named from either side. */
export function streamsOf(id: string, catalog: Catalog): readonly string[] {
  const named = catalog
    .list('streams')
    .filter(({ settings }) => listOf<string>(settings['outputs']).includes(id))
    .map((stream) => stream.id);
  return [...new Set([...listOf<string>(catalog.find('outputs', id)?.settings['streams']), ...named])].sort();
}
