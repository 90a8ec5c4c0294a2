/** Outputs: how they stand in a rule file, and the settings that come of it. */
import { Type, type Static, type TObject, type TSchema } from 'typebox';
import { closed, flag, milliseconds, reference, size, text } from './fields.js';
import type { OutputFormat, OutputProtocol } from './format.js';
import { type outputFormats } from './formats.js';

const tls = Type.Object(
  {
    enabled: flag('Connect with TLS.', true),
    ca_file: text(
      "Certificate authorities to trust instead of the system's, PEM. Read again at each connection; relative to the rule folder, as all files here.",
      '',
    ),
    cert_file: text('Client certificate, PEM.', ''),
    key_file: text('Private key of the client certificate, PEM.', ''),
    key_password: reference('Password of the private key.'),
    server_name: text("Name that the destination's certificate must have; default: the host.", ''),
    verify: flag('Refuse a destination whose certificate does not verify.', true),
  },
  { ...closed, description: 'TLS to the destination; for TCP and HTTP.' },
);

const names = {
  id: Type.String({
    description: 'Name of the output; also of its topic, so it is never given to another one.',
    pattern: '^[a-z0-9][a-z0-9_-]*$',
    maxLength: 60,
  }),
  title: Type.Optional(
    Type.String({ description: 'Name shown to people; default: the id.', minLength: 1, maxLength: 200 }),
  ),
};
const destination = {
  enabled: flag('An output that is not enabled takes and sends nothing; what waits in its topic stays.', true),
  host: Type.Optional(
    Type.String({
      description: 'Destination host: a name, resolved at each connection, or an address.',
      minLength: 1,
      maxLength: 253,
    }),
  ),
  port: Type.Optional(Type.Integer({ description: 'Destination port.', minimum: 1, maximum: 65_535 })),
  protocol: Type.Optional(
    Type.Enum(['tcp', 'udp', 'http'], { description: 'Transport protocol; http for gelf only.', default: 'tcp' }),
  ),
  streams: Type.Optional(
    Type.Array(Type.String(), {
      description: 'Streams whose messages are sent; those that name this output in `outputs` come on top.',
    }),
  ),
};
const delivery = {
  on_full: Type.Optional(
    Type.Enum(['hold', 'drop_oldest', 'drop_newest'], {
      description:
        'What happens when more waits than max_waiting or max_age allow: nothing is dropped while the disk has room, or the oldest go, or the newest are not taken.',
      default: 'hold',
    }),
  ),
  max_waiting: size('Messages that may wait in the topic, by size; default: topics.retention_bytes.'),
  max_age: Type.Optional(
    Type.String({
      description:
        'How old a waiting message may be, ISO 8601 duration such as PT1H or P1D; default: topics.retention_ms.',
    }),
  ),
  connect_timeout_ms: milliseconds('A connection attempt that takes longer has failed.', 5_000),
  write_timeout_ms: milliseconds(
    'A destination that takes nothing for this long, or never acknowledges, is connected anew.',
    30_000,
  ),
  hang_timeout_ms: milliseconds(
    'The same for a destination whose system answers while its program reads nothing (seen on Linux). Connected anew before it has read what it has, it may read that behind what follows.',
    600_000,
  ),
  idle_timeout_ms: Type.Optional(
    Type.Integer({
      description:
        'A connection without messages for this long is closed until there are some; 0: never. In milliseconds.',
      minimum: 0,
      default: 0,
    }),
  ),
  confirm_after_ms: milliseconds(
    'TCP and UDP have no answers: what left on a connection that is sound for this long afterwards counts as sent; before, it is sent again when the connection breaks.',
    1_000,
  ),
  unconfirmed_bytes: size('Sent and not yet confirmed bytes that are kept to be sent again; default 8 MiB.'),
  retry_most_ms: milliseconds(
    'Longest pause between two attempts to connect; they begin with 500 ms and double.',
    30_000,
  ),
};

type Formats = (typeof outputFormats)[number];
type OutputType = Formats['type'];
type SettingsOf<Type extends OutputType> =
  Extract<Formats, { type: Type }> extends OutputFormat<Type, infer Settings> ? Settings : never;
/** A section for each format, with the defaults filled in. */
export type OutputSections = { readonly [Type in OutputType]: SettingsOf<Type> };

/** The schema of an output of these formats. */
export function outputSchemaOf(formats: readonly OutputFormat[]): TSchema {
  const types = formats.map(({ type }) => type);
  const sections = Object.fromEntries(formats.map(({ type, settings }) => [type, Type.Optional(settings)]));
  return Type.Object(
    {
      ...names,
      type: Type.Optional(Type.Enum(types, { description: 'Format of the messages.' })),
      ...destination,
      tls: Type.Optional(tls),
      ...sections,
      ...delivery,
    },
    { ...closed, description: 'A destination outside that messages of streams are forwarded to.' },
  );
}

/** As it stands in a rule file; the section of its type has what is special to it. */
export type RuleFileOutput = Static<TObject<typeof names & typeof destination & typeof delivery>> & {
  readonly type?: OutputType;
  readonly tls?: Static<typeof tls>;
} & { readonly [Type in OutputType]?: Partial<SettingsOf<Type>> };

export interface OutputTls {
  readonly enabled: boolean;
  readonly ca_file: string;
  readonly cert_file: string;
  readonly key_file: string;
  readonly key_password: string;
  readonly server_name: string;
  readonly verify: boolean;
}

/** An output with every default filled in and everything checked that can be checked without opening anything. */
export interface OutputSettings extends OutputSections {
  readonly id: string;
  readonly title: string;
  readonly type: OutputType;
  readonly enabled: boolean;
  readonly host: string;
  readonly port: number;
  readonly protocol: OutputProtocol;
  /** Ids, sorted, without repeats; from both sides. */
  readonly streams: readonly string[];
  readonly tls: OutputTls;
  readonly on_full: 'hold' | 'drop_oldest' | 'drop_newest';
  /** Undefined: as the other topics. */
  readonly max_waiting_bytes: number | undefined;
  readonly max_age_ms: number | undefined;
  readonly connect_timeout_ms: number;
  readonly write_timeout_ms: number;
  readonly hang_timeout_ms: number;
  readonly idle_timeout_ms: number;
  readonly confirm_after_ms: number;
  readonly unconfirmed_bytes: number;
  readonly retry_most_ms: number;
}
