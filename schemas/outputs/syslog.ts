/** SYSLOG as a format of outputs. */
import { Type } from 'typebox';
import { closed, flag, text } from './fields.js';
import { defineOutputFormat } from './format.js';

/** What a UDP datagram can carry. */
const maxDatagramBytes = 65_507;

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

const field = (description: string, value: string) =>
  Type.Optional(Type.String({ description: `${description} Empty: none.`, default: value, maxLength: 256 }));

const settings = Type.Object(
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

export const syslogFormat = defineOutputFormat<'syslog', SyslogOutputSettings>({
  type: 'syslog',
  title: 'SYSLOG',
  description: 'Syslog, RFC 5424 or RFC 3164',
  protocols: ['tcp', 'udp'],
  settings,
  only: { tcp: ['framing'] },
  secrets: [],
  defaults: () => ({
    format: 'rfc5424',
    framing: 'octet_counting',
    facility: 'user',
    facility_field: 'facility',
    severity: 'notice',
    severity_field: 'level',
    host_field: 'source',
    application: 'sluice',
    application_field: 'container_name',
    process_id_field: '',
    message_id_field: '',
    message_field: 'message',
    structured_data: 'all',
    structured_data_id: 'gelf@32473',
    time_field: 'timestamp',
    max_bytes: 8_192,
    over_long: 'truncate',
    byte_order_mark: false,
  }),
  check: ({ max_bytes: bytes = 0 }, protocol) =>
    protocol === 'udp' && bytes > maxDatagramBytes
      ? [
          {
            key: 'max_bytes',
            reason: 'A datagram cannot be this long.',
            allowed: `at most ${maxDatagramBytes}`,
          },
        ]
      : [],
});
