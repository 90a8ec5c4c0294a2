/**
 * Start-up makes much that lives on (modules, schemas, rules) and V8 answers by growing its young generation to its
 * largest size, 32 MiB that it keeps while nothing happens. Held at its first size until messages pass, it grows with
 * the traffic.
 */
import { setFlagsFromString } from 'node:v8';

/** A program with nothing else to do than a few messages now and then stays small. */
const messagesOfTraffic = 1_000;
let held = 0;

/** Before anything else is loaded. */
export function holdYoungGeneration(): void {
  held = messagesOfTraffic;
  setFlagsFromString('--semi-space-growth-factor=1');
}

/**
 * To be called when a worker thread is online: V8 makes the isolate of a new thread with its own default again, for all
 * of them.
 */
export function holdYoungGenerationStill(): void {
  if (held > 0) setFlagsFromString('--semi-space-growth-factor=1');
}

/**
 * Told by whatever messages pass in a process of any role (receiving, processing, sending, searching), once for each
 * batch.
 */
export function noteTraffic(messages: number): void {
  if (held <= 0) return;
  held -= messages;
  // V8's own default.
  if (held <= 0) setFlagsFromString('--semi-space-growth-factor=2');
}
