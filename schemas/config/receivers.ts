/** Settings of the receivers, one schema per kind. */
import { Type, type Static } from 'typebox';
import { bytes, count, flag, milliseconds, port, secret, serverTls, text } from './common.js';

const timestamp = Type.Union([Type.Literal('sender'), Type.Literal('received')], {
  description:
    "Where the field timestamp comes from: the sender's GELF timestamp where usable, or always the receive time.",
  default: 'sender',
});
const maxConnectionsPerAddress = count(
  'Connections of one address at the same time; further ones are closed at once and counted. All senders behind a proxy or NAT share one address.',
  10_000,
  1,
);
const maxInflatedBytes = bytes(
  'Largest message after inflation; a larger one is refused by name, never cut.',
  8 * 2 ** 20,
);

export const gelfTcpOptions = Type.Object(
  {
    type: Type.Literal('gelf_tcp'),
    name: text('Name in metrics and in the field receiver.', 'gelf-tcp'),
    host: text('Address to listen on.', '0.0.0.0'),
    port: port('Port to listen on; 0 takes a free one.', 12201),
    framing: Type.Union([Type.Literal('null'), Type.Literal('newline')], {
      description: 'What ends a frame: a NUL byte, or a newline (a carriage return before it is dropped).',
      default: 'null',
    }),
    max_frame_bytes: bytes('Largest frame; a larger one is skipped up to its delimiter.', 2 * 2 ** 20),
    max_inflated_bytes: maxInflatedBytes,
    max_connections: count('Connections at the same time; further ones are closed at once and counted.', 10_000, 1),
    max_connections_per_address: maxConnectionsPerAddress,
    max_connection_bytes: bytes('Unaccepted bytes of one connection; reading stops above it.', 4 * 2 ** 20),
    keepalive_ms: milliseconds('Delay before TCP keep-alive probes; 0: off.', 60_000),
    idle_ms: milliseconds('Closes a connection that sent nothing for this long; 0: never.', 0),
    timestamp,
    tls: serverTls,
  },
  { additionalProperties: false },
);

export const gelfUdpOptions = Type.Object(
  {
    type: Type.Literal('gelf_udp'),
    name: text('Name in metrics and in the field receiver.', 'gelf-udp'),
    host: text('Address to listen on.', '0.0.0.0'),
    port: port('Port to listen on; 0 takes a free one.', 12201),
    receive_buffer_bytes: bytes('Kernel receive buffer asked for; what was granted is logged.', 8 * 2 ** 20),
    max_inflated_bytes: maxInflatedBytes,
    chunk_timeout_ms: milliseconds('How long an incomplete chunk set is kept.', 5_000),
    max_chunk_sets: count('Incomplete chunk sets at the same time.', 4_096, 1),
    max_chunk_bytes: bytes('Memory of all incomplete chunk sets.', 128 * 2 ** 20),
    timestamp,
  },
  { additionalProperties: false },
);

export const gelfHttpOptions = Type.Object(
  {
    type: Type.Literal('gelf_http'),
    name: text('Name in metrics and in the field receiver.', 'gelf-http'),
    host: text('Address to listen on.', '0.0.0.0'),
    port: port('Port to listen on; 0 takes a free one.', 12202),
    max_body_bytes: bytes('Largest request body after inflation; larger: 413.', 8 * 2 ** 20),
    max_connections: count('Connections at the same time.', 10_000, 1),
    max_connections_per_address: maxConnectionsPerAddress,
    idle_ms: milliseconds('Closes a kept-alive connection without a request for this long.', 60_000),
    token: secret('When set, requests need Authorization: Bearer <token>.'),
    cors: flag('Answer CORS requests from browsers.', false),
    timestamp,
    tls: serverTls,
  },
  { additionalProperties: false },
);

export const receiverOptions = Type.Union([gelfTcpOptions, gelfUdpOptions, gelfHttpOptions], {
  description: 'One receiver.',
  discriminator: { propertyName: 'type' },
});

export type GelfTcpOptions = Static<typeof gelfTcpOptions>;
export type GelfUdpOptions = Static<typeof gelfUdpOptions>;
export type GelfHttpOptions = Static<typeof gelfHttpOptions>;
export type ReceiverOptions = Static<typeof receiverOptions>;
export type ServerTls = Static<typeof serverTls>;
