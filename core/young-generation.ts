/**
 * Start-up makes much that lives on (modules, schemas, rules) and V8 answers by growing its young generation to its largest
 * size, 32 MiB that it keeps while nothing happens. Held at its first size until the program listens, it grows when there is traffic.
 */
import { setFlagsFromString } from 'node:v8';

export function holdYoungGeneration(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
}

/** V8's own default. */
export function releaseYoungGeneration(): void {
  setFlagsFromString('--semi-space-growth-factor=2');
}
