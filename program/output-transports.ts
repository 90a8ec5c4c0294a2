/** How outputs encode and send, as the registry lists their kinds. */
import type { OutputSettings } from '../schemas/outputs/output.js';
import type { EncodeContext, OutputSending } from '../sinks/outputs/contract.js';
import type { OutputContext } from '../sinks/outputs/define.js';
import { createLoopGuard } from '../sinks/outputs/loops.js';
import { outputTransport } from '../sinks/outputs/registry.js';
import { Sender } from '../sinks/outputs/sender.js';

export function outputTransports(
  context: Omit<OutputContext, keyof EncodeContext>,
): (settings: OutputSettings, encode: EncodeContext) => OutputSending {
  return (settings, encode) => {
    const transport = outputTransport(settings);
    const all: OutputContext = { ...context, ...encode };
    const link = transport.link(settings, all);
    return {
      encoder: transport.encoder(settings, all),
      link,
      loopGuard: createLoopGuard(link.address),
      createSender: (options) => new Sender(options),
    };
  };
}
