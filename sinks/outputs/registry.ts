/** The kinds of outputs: which encoder and which link. A new one is a file and a line here, and its settings in schemas/outputs.ts. */
import type { OutputSettings } from '../../schemas/outputs.js';
import type { EncodeContext, Encoder, Link } from './contract.js';
import { createGelfDatagramEncoder } from './gelf/datagrams.js';
import { createGelfRequestEncoder } from './gelf/requests.js';
import { createGelfStreamEncoder } from './gelf/stream.js';
import type { LookUp, OwnListener } from './senders/addresses.js';
import { createHttpLink } from './senders/http.js';
import { createTcpLink, type TcpLinkOptions } from './senders/tcp.js';
import type { Files } from './senders/tls.js';
import { createUdpLink } from './senders/udp.js';
import { createSyslogDatagramEncoder, createSyslogStreamEncoder } from './syslog/encoder.js';

export type { OwnListener } from './senders/addresses.js';

export interface OutputContext extends EncodeContext {
  readonly files: Files;
  readonly listeners: () => readonly OwnListener[];
  readonly lookUp?: LookUp | undefined;
}

export interface OutputKind {
  readonly type: OutputSettings['type'];
  readonly protocol: OutputSettings['protocol'];
  readonly encoder: (settings: OutputSettings, context: OutputContext) => Encoder;
  readonly link: (settings: OutputSettings, context: OutputContext) => Link;
}

const tcpOptions = (settings: OutputSettings, { files, listeners, lookUp }: OutputContext): TcpLinkOptions => ({
  name: settings.type,
  host: settings.host,
  port: settings.port,
  tls: settings.tls,
  files,
  listeners,
  lookUp,
  connectTimeoutMs: settings.connect_timeout_ms,
  writeTimeoutMs: settings.write_timeout_ms,
  hangTimeoutMs: settings.hang_timeout_ms,
});
const tcp: OutputKind['link'] = (settings, context) => createTcpLink(tcpOptions(settings, context));
const http: OutputKind['link'] = (settings, context) =>
  createHttpLink({ ...tcpOptions(settings, context), gelf: settings.gelf });
const udp: OutputKind['link'] = ({ type, host, port }, { listeners, lookUp }) =>
  createUdpLink({ name: type, host, port, listeners, lookUp });

export const outputKinds: readonly OutputKind[] = [
  { type: 'gelf', protocol: 'tcp', encoder: createGelfStreamEncoder, link: tcp },
  {
    type: 'gelf',
    protocol: 'udp',
    encoder: ({ gelf }, context) => createGelfDatagramEncoder(gelf, context),
    link: udp,
  },
  { type: 'gelf', protocol: 'http', encoder: ({ gelf }) => createGelfRequestEncoder(gelf), link: http },
  {
    type: 'syslog',
    protocol: 'tcp',
    encoder: ({ syslog }, context) => createSyslogStreamEncoder(syslog, context),
    link: tcp,
  },
  {
    type: 'syslog',
    protocol: 'udp',
    encoder: ({ syslog }, context) => createSyslogDatagramEncoder(syslog, context),
    link: udp,
  },
];

export function outputKind({ type, protocol }: Pick<OutputSettings, 'type' | 'protocol'>): OutputKind {
  const kind = outputKinds.find((candidate) => candidate.type === type && candidate.protocol === protocol);
  if (kind === undefined) throw new TypeError(`no output of type ${type} over ${protocol}`);
  return kind;
}
