import type { Inflater } from './contract.js';
import { createNodeZlibInflater } from './node-zlib.js';
import { createZlibSyncInflater } from './zlib-sync.js';

/** The repaired zlib-sync where it is there, else node:zlib; `name` says which one runs. */
export function createInflater(): Inflater {
  return createZlibSyncInflater() ?? createNodeZlibInflater();
}
