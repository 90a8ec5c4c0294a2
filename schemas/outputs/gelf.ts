/** GELF as a format of outputs. */
import { Type } from 'typebox';
import { closed, reference, text } from './fields.js';
import { defineOutputFormat } from './format.js';

const settings = Type.Object(
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

export interface GelfOutputSettings {
  readonly compression: 'none' | 'gzip' | 'zlib';
  readonly datagram_bytes: number;
  readonly over_long: 'truncate' | 'drop';
  readonly path: string;
  readonly token: string;
  readonly messages_per_request: number;
}

export const gelfFormat = defineOutputFormat<'gelf', GelfOutputSettings>({
  type: 'gelf',
  title: 'GELF',
  description: 'GELF',
  protocols: ['tcp', 'udp', 'http'],
  settings,
  only: { udp: ['datagram_bytes', 'over_long'], http: ['path', 'token', 'messages_per_request'] },
  secrets: ['token'],
  defaults: (protocol) => ({
    compression: protocol === 'udp' ? 'gzip' : 'none',
    datagram_bytes: 1_420,
    over_long: 'truncate',
    path: '/gelf',
    token: '',
    messages_per_request: 1,
  }),
  check: ({ compression = 'none', path = '/' }, protocol) => [
    ...(protocol === 'tcp' && compression !== 'none'
      ? [{ key: 'compression', reason: 'GELF over TCP cannot be compressed.', got: compression, allowed: 'none' }]
      : []),
    ...(protocol === 'http' && compression === 'zlib'
      ? [{ key: 'compression', reason: 'HTTP bodies are compressed with gzip.', got: 'zlib', allowed: 'none, gzip' }]
      : []),
    ...(/^\/[!-~]*$/.test(path)
      ? []
      : [{ key: 'path', reason: 'This is no path.', allowed: 'a slash and printable ASCII characters' }]),
  ],
});
