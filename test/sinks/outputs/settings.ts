/** Settings of outputs as rule files give them, for tests of the parts behind. */
import type { OutputSettings } from '../../../schemas/outputs/output.js';
import { compiled } from '../../rules/support.js';

export function outputOf(settings: Readonly<Record<string, unknown>>): OutputSettings {
  const output = compiled({ outputs: [{ id: 'test', type: 'gelf', host: '127.0.0.1', port: 1, ...settings }] })
    .outputs?.[0];
  if (output === undefined) throw new Error('no output');
  return output;
}

export const recordOf = (value: string | Buffer, offset = 0) => ({
  offset,
  key: `k${offset}`,
  value: Buffer.from(value),
  timestamp: 0,
  origin: 'r 127.0.0.1:1',
});
