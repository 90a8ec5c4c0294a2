/**
 * The kinds of outputs. A new one is a file that defines it and a line here; its settings are a file and a line in
 * `schemas/outputs/`.
 */
import type { OutputSettings } from '../../schemas/outputs/output.js';
import type { OutputKind, OutputTransport } from './define.js';
import { gelfOutput } from './gelf/output.js';
import { syslogOutput } from './syslog/output.js';

export type { OwnListener } from './senders/addresses.js';

export const outputKinds: readonly OutputKind[] = [gelfOutput, syslogOutput];

export function outputTransport(
  { type, protocol }: Pick<OutputSettings, 'protocol'> & { readonly type: string },
  kinds: readonly OutputKind[] = outputKinds,
): OutputTransport {
  const transport = kinds.find(({ format }) => format.type === type)?.transports[protocol];
  if (transport === undefined) throw new TypeError(`no output of type ${type} over ${protocol}`);
  return transport;
}
