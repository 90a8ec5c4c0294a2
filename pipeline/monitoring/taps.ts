/**
 * Watchers of what passes a receiver, a stream or an output. A watcher sees a sample when more passes than it reads: it
 * never slows anything, and costs nothing while there is none.
 */
import { at } from '../../core/at.js';
import { buildMetrics, type Registry } from '../../core/metrics.js';
import type { MessageBatch } from '../../schemas/messages.js';
import type { IndexBatch } from '../index-batch.js';
import type { TapKind, TapOpener, Tapped } from './contract.js';
import { viewMetrics } from './metrics.js';

/** Shown to one watcher in a second, at the most. */
const maxShownPerSecond = 500;

export interface Taps extends TapOpener {
  received(batch: MessageBatch): void;
  routed(batches: readonly IndexBatch[]): void;
  sent(output: string, texts: () => readonly Tapped[]): void;
}

interface Tap {
  readonly kind: TapKind;
  readonly name: string;
  readonly onPassed: (tapped: Tapped, skipped: number) => void;
  second: number;
  shown: number;
  skipped: number;
}

export function createTaps(registry: Registry, now: () => number = Date.now): Taps {
  const metrics = buildMetrics(registry, viewMetrics);
  const taps = new Set<Tap>();

  /** Whether this watcher takes one more in this second. */
  const room = (tap: Tap): boolean => {
    const second = Math.floor(now() / 1000);
    if (second !== tap.second) [tap.second, tap.shown] = [second, 0];
    if (tap.shown < maxShownPerSecond) return true;
    tap.skipped += 1;
    metrics.tapsSkipped.inc();
    return false;
  };
  const show = (tap: Tap, tapped: Tapped): void => {
    tap.shown += 1;
    const { skipped } = tap;
    tap.skipped = 0;
    tap.onPassed(tapped, skipped);
  };

  return {
    open(kind, name, onPassed) {
      const tap: Tap = { kind, name, onPassed, second: 0, shown: 0, skipped: 0 };
      taps.add(tap);
      metrics.tapsOpen.set(taps.size);
      return () => {
        taps.delete(tap);
        metrics.tapsOpen.set(taps.size);
      };
    },
    received({ receiver, values, peers }) {
      if (taps.size === 0) return;
      for (const tap of taps) {
        if (tap.kind !== 'receiver' || tap.name !== receiver) continue;
        for (const [place, value] of values.entries()) {
          if (room(tap))
            show(tap, {
              text: value.toString('utf8'),
              peer: typeof peers === 'string' ? peers : at(peers, place),
            });
        }
      }
    },
    routed(batches) {
      if (taps.size === 0) return;
      for (const tap of taps) {
        if (tap.kind !== 'stream') continue;
        // A message of several index sets is shown once.
        const shown = new Set<string>();
        for (const { ids, documents } of batches) {
          for (const [place, text] of documents.entries()) {
            const id = at(ids, place);
            if (!shown.has(id) && inStream(text, tap.name) && room(tap)) {
              shown.add(id);
              show(tap, { text, id });
            }
          }
        }
      }
    },
    sent(output, texts) {
      if (taps.size === 0) return;
      for (const tap of taps)
        if (tap.kind === 'output' && tap.name === output)
          for (const tapped of texts()) if (room(tap)) show(tap, tapped);
    },
  };
}

/** The text decides first: most documents are of other streams. */
function inStream(text: string, stream: string): boolean {
  if (!text.includes(`"${stream}"`)) return false;
  const { streams } = JSON.parse(text) as { readonly streams?: readonly string[] };
  return streams?.includes(stream) === true;
}
