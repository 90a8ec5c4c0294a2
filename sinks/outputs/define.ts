/** Declares how the messages of a format are sent. Its file has everything about it; `registry.ts` has one line. */
import type { OutputFormat, OutputProtocol } from '../../schemas/outputs/format.js';
import type { OutputSettings } from '../../schemas/outputs/output.js';
import type { EncodeContext, Encoder, Link } from './contract.js';
import type { LookUp, OwnListener } from './senders/addresses.js';
import type { Files } from './senders/tls.js';

export interface OutputContext extends EncodeContext {
  readonly files: Files;
  readonly listeners: () => readonly OwnListener[];
  readonly lookUp?: LookUp | undefined;
}

/** How one protocol of the format brings messages to the destination. */
export interface OutputTransport {
  readonly encoder: (settings: OutputSettings, context: OutputContext) => Encoder;
  readonly link: (settings: OutputSettings, context: OutputContext) => Link;
}

export interface OutputKind {
  readonly format: OutputFormat;
  readonly transports: Partial<Readonly<Record<OutputProtocol, OutputTransport>>>;
}

interface Transport<Section> {
  readonly encoder: (section: Section, context: OutputContext) => Encoder;
  readonly link: OutputTransport['link'];
}

/**
 * The section of an output's settings is read with the defaults of its format: the only place where it gets their type.
 */
export function defineOutput<Section extends object>(
  format: OutputFormat<string, Section>,
  transports: Partial<Readonly<Record<OutputProtocol, Transport<Section>>>>,
): OutputKind {
  const sectionOf = (settings: OutputSettings): Section => ({
    ...format.defaults(settings.protocol),
    ...(Reflect.get(settings, format.type) as Partial<Section> | undefined),
  });
  return {
    format,
    transports: Object.fromEntries(
      Object.entries(transports).map(([protocol, { encoder, link }]) => [
        protocol,
        { link, encoder: (settings: OutputSettings, context: OutputContext) => encoder(sectionOf(settings), context) },
      ]),
    ),
  };
}
