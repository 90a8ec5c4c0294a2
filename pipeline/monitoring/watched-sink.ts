/** The sink of the receivers, with an eye on what passes. */
import type { MessageSink } from '../../schemas/messages.js';
import type { Senders } from './senders.js';
import type { Taps } from './taps.js';

export function createWatchedSink(sink: MessageSink, senders: Senders, taps: Taps): MessageSink {
  return {
    push(batch) {
      senders.received(batch);
      taps.received(batch);
      return sink.push(batch);
    },
    refuse(refusals) {
      senders.refused(refusals);
      return sink.refuse(refusals);
    },
    shed: (receiver, peer) => senders.shed(receiver, peer, Date.now()),
    full: () => sink.full(),
  };
}
