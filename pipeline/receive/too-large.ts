/** The rare batch with messages that no topic record can hold: those become dead letters. */
import type { MessageBatch, Refusal } from '../../schemas/messages.js';
import { maxRawBytes } from '../dead-letter.js';
import { pipelineErrors } from '../errors.js';

export function splitTooLarge(
  batch: MessageBatch,
  most: number,
): { readonly fitting: MessageBatch; readonly refusals: readonly Refusal[] } {
  const { receiver, receivedAt, peers } = batch;
  const values: Buffer[] = [];
  const fittingPeers: string[] = [];
  const refusals: Refusal[] = [];
  for (const [at, value] of batch.values.entries()) {
    const peer = typeof peers === 'string' ? peers : (peers[at] ?? '');
    if (value.length <= most) {
      values.push(value);
      fittingPeers.push(peer);
      continue;
    }
    const { code, message: reason } = pipelineErrors.create('PIPELINE_MESSAGE_TOO_LARGE', {
      got: `${value.length} bytes`,
      allowed: `${most} bytes`,
    });
    const raw = value.subarray(0, maxRawBytes);
    refusals.push({ receiver, receivedAt, peer, code, reason, raw, rawLength: value.length });
  }
  const bytes = values.reduce((sum, value) => sum + value.length, 0);
  return { fitting: { ...batch, values, peers: typeof peers === 'string' ? peers : fittingPeers, bytes }, refusals };
}
