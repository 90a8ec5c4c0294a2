/** What the HTTP API is built from. */
import type { Registry } from '../core/metrics.js';
import type { Log } from '../core/log.js';
import type { Sluice } from '../program/sluice.js';
import type { Config } from '../schemas/config/config.js';

export interface ApiOptions {
  /** Started before this is. */
  readonly sluice: Sluice;
  readonly config: Config;
  readonly registry: Registry;
  readonly log: Log;
}

export interface ApiAddress {
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
}
