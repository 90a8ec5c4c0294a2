/** Outputs: how they stand in a rule file, and the settings that come of it. */
import { Type, type Static } from 'typebox';

const closed = { additionalProperties: false } as const;
const milliseconds = (description: string, value: number) =>
  Type.Optional(
    Type.Integer({ description: `${description} In milliseconds.`, minimum: 1, maximum: 86_400_000, default: value }),
  );
const flag = (description: string, value: boolean) => Type.Optional(Type.Boolean({ description, default: value }));
const text = (description: string, value: string) =>
  Type.Optional(Type.String({ description, default: value, maxLength: 1_000 }));
const size = (description: string) =>
  Type.Optional(
    Type.Union([Type.Integer({ minimum: 1 }), Type.String({ minLength: 1 })], {
      description: `${description} Bytes, or a number with B, kB, MB, GB, KiB, MiB, GiB.`,
    }),
  );
const reference = (description: string) =>
  Type.Optional(
    Type.String({
      description: `${description} file:<path> or env:<NAME>, never the value itself: rule files are kept with each change.`,
      pattern: '^(?:file:.+|env:[A-Za-z_][A-Za-z0-9_]*)$',
    }),
  );

export const facilities = [
  'kern',
  'user',
  'mail',
  'daemon',
  'auth',
  'syslog',
  'lpr',
  'news',
  'uucp',
  'cron',
  'authpriv',
  'ftp',
  'ntp',
  'security',
  'console',
  'solaris-cron',
  'local0',
  'local1',
  'local2',
  'local3',
  'local4',
  'local5',
  'local6',
  'local7',
] as const;
export const severities = ['emerg', 'alert', 'crit', 'err', 'warning', 'notice', 'info', 'debug'] as const;

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

export const gelfOutputSchema = Type.Object(
  {
    compression: Type.Optional(
      Type.Enum(['none', 'gzip', 'zlib'], {
        description:
          'protocol udp: of each message, default gzip. protocol http: of the body, none or gzip. protocol tcp: always none, GELF TCP knows no other.',
      }),
    ),
    datagram_bytes: Type.Optional(
      Type.Integer({
        description: 'protocol udp: largest datagram; longer messages are chunked, at most 128 chunks.',
        minimum: 64,
        maximum: 65_507,
        default: 1_420,
      }),
    ),
    over_long: Type.Optional(
      Type.Enum(['truncate', 'drop'], {
        description:
          'protocol udp: what happens to a message that 128 chunks cannot hold: its longest texts are cut, or it is not sent. Each is counted.',
        default: 'truncate',
      }),
    ),
    path: text('protocol http: path of the receiver.', '/gelf'),
    token: reference('protocol http: sent as Authorization: Bearer.'),
    messages_per_request: Type.Optional(
      Type.Integer({
        description: 'protocol http: messages of one request, one a line; 1 for receivers that take only one.',
        minimum: 1,
        maximum: 10_000,
        default: 1,
      }),
    ),
  },
  { ...closed, description: 'What is special to GELF.' },
);

const field = (description: string, value: string) =>
  Type.Optional(Type.String({ description: `${description} Empty: none.`, default: value, maxLength: 256 }));

export const syslogOutputSchema = Type.Object(
  {
    format: Type.Optional(Type.Enum(['rfc5424', 'rfc3164'], { description: 'Which syslog.', default: 'rfc5424' })),
    framing: Type.Optional(
      Type.Enum(['octet_counting', 'newline'], {
        description: 'protocol tcp: what divides messages; default octet_counting.',
      }),
    ),
    facility: Type.Optional(
      Type.Enum([...facilities], { description: 'Facility where the message has none.', default: 'user' }),
    ),
    facility_field: field('Field with the facility, a name or a number from 0 to 23.', 'facility'),
    severity: Type.Optional(
      Type.Enum([...severities], { description: 'Severity where the message has none.', default: 'notice' }),
    ),
    severity_field: field('Field with the severity, 0 to 7.', 'level'),
    host_field: field('Field with the host name.', 'source'),
    application: text('Application name where the message has none.', 'sluice'),
    application_field: field('Field with the application name.', 'container_name'),
    process_id_field: field('Field with the process id.', ''),
    message_id_field: field('Field with the message id; RFC 5424 only.', ''),
    message_field: Type.Optional(
      Type.String({ description: 'Field with the text.', default: 'message', minLength: 1, maxLength: 256 }),
    ),
    structured_data: Type.Optional(
      Type.Union([Type.Enum(['all', 'none']), Type.Array(Type.String({ minLength: 1 }))], {
        description:
          'Fields that go along as structured data of RFC 5424: all that are not used otherwise, none, or a list.',
        default: 'all',
      }),
    ),
    structured_data_id: Type.Optional(
      Type.String({
        description: 'Name of the structured data element, name@enterprise-number.',
        pattern: '^[!#-<>-\\\\^-~]{1,32}$',
        default: 'gelf@32473',
      }),
    ),
    time_field: field('Field with the time.', 'timestamp'),
    max_bytes: Type.Optional(
      Type.Integer({
        description: 'Longest syslog message. UDP: also the largest datagram.',
        minimum: 480,
        maximum: 1_048_576,
        default: 8_192,
      }),
    ),
    over_long: Type.Optional(
      Type.Enum(['truncate', 'split', 'drop'], {
        description: 'What happens to a longer message: cut, sent in several, or not sent. Each is counted.',
        default: 'truncate',
      }),
    ),
    byte_order_mark: flag(
      'Begin the text with a byte order mark, as RFC 5424 wants it for UTF-8; many receivers show it.',
      false,
    ),
  },
  { ...closed, description: 'What is special to SYSLOG.' },
);

export const outputSchema = Type.Object(
  {
    id: Type.String({
      description: 'Name of the output; also of its topic, so it is never given to another one.',
      pattern: '^[a-z0-9][a-z0-9_-]*$',
      maxLength: 60,
    }),
    title: Type.Optional(
      Type.String({ description: 'Name shown to people; default: the id.', minLength: 1, maxLength: 200 }),
    ),
    type: Type.Optional(Type.Enum(['gelf', 'syslog'], { description: 'Format of the messages.' })),
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
    tls: Type.Optional(tls),
    gelf: Type.Optional(gelfOutputSchema),
    syslog: Type.Optional(syslogOutputSchema),
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
  },
  { ...closed, description: 'A destination outside that messages of streams are forwarded to.' },
);

export type RuleFileOutput = Static<typeof outputSchema>;

export interface OutputTls {
  readonly enabled: boolean;
  readonly ca_file: string;
  readonly cert_file: string;
  readonly key_file: string;
  readonly key_password: string;
  readonly server_name: string;
  readonly verify: boolean;
}

export interface GelfOutputSettings {
  readonly compression: 'none' | 'gzip' | 'zlib';
  readonly datagram_bytes: number;
  readonly over_long: 'truncate' | 'drop';
  readonly path: string;
  readonly token: string;
  readonly messages_per_request: number;
}

export interface SyslogOutputSettings {
  readonly format: 'rfc5424' | 'rfc3164';
  readonly framing: 'octet_counting' | 'newline';
  readonly facility: (typeof facilities)[number];
  readonly facility_field: string;
  readonly severity: (typeof severities)[number];
  readonly severity_field: string;
  readonly host_field: string;
  readonly application: string;
  readonly application_field: string;
  readonly process_id_field: string;
  readonly message_id_field: string;
  readonly message_field: string;
  readonly structured_data: 'all' | 'none' | readonly string[];
  readonly structured_data_id: string;
  readonly time_field: string;
  readonly max_bytes: number;
  readonly over_long: 'truncate' | 'split' | 'drop';
  readonly byte_order_mark: boolean;
}

/** An output with every default filled in and everything checked that can be checked without opening anything. */
export interface OutputSettings {
  readonly id: string;
  readonly title: string;
  readonly type: 'gelf' | 'syslog';
  readonly enabled: boolean;
  readonly host: string;
  readonly port: number;
  readonly protocol: 'tcp' | 'udp' | 'http';
  /** Ids, sorted, without repeats; from both sides. */
  readonly streams: readonly string[];
  readonly tls: OutputTls;
  readonly gelf: GelfOutputSettings;
  readonly syslog: SyslogOutputSettings;
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
