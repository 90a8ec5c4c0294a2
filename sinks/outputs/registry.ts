/** The kinds of outputs: which encoder and which link. A new one is a file and a line here, and its settings in schemas/outputs.ts. */
import type { OutputSettings } from '../../schemas/outputs.js';
import type { EncodeContext, Encoder, Link } from './contract.js';
import { createGelfStreamEncoder } from './gelf/stream.js';
import type { LookUp, OwnListener } from './senders/addresses.js';
import { createTcpLink } from './senders/tcp.js';
import type { Files } from './senders/tls.js';

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

const tcp: OutputKind['link'] = (settings, { files, listeners, lookUp }) => createTcpLink({
  name: settings.type, host: settings.host, port: settings.port, tls: settings.tls, files, listeners, lookUp,
  connectTimeoutMs: settings.connect_timeout_ms, writeTimeoutMs: settings.write_timeout_ms,
});

export const outputKinds: readonly OutputKind[] = [
  { type: 'gelf', protocol: 'tcp', encoder: createGelfStreamEncoder, link: tcp },
];

export function outputKind({ type, protocol }: Pick<OutputSettings, 'type' | 'protocol'>): OutputKind {
  const kind = outputKinds.find((candidate) => candidate.type === type && candidate.protocol === protocol);
  if (kind === undefined) throw new TypeError(`no output of type ${type} over ${protocol}`);
  return kind;
}
