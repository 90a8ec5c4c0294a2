/** How outputs encode and send, as the registry lists their kinds. */
import type { OutputSettings } from '../schemas/outputs/output.js';
import type { EncodeContext, Encoder, Link } from '../sinks/outputs/contract.js';
import type { OutputContext } from '../sinks/outputs/define.js';
import { outputTransport } from '../sinks/outputs/registry.js';

export function outputTransports(
  context: Omit<OutputContext, keyof EncodeContext>,
): (settings: OutputSettings, encode: EncodeContext) => { readonly encoder: Encoder; readonly link: Link } {
  return (settings, encode) => {
    const { encoder, link } = outputTransport(settings);
    const all: OutputContext = { ...context, ...encode };
    return { encoder: encoder(settings, all), link: link(settings, all) };
  };
}
