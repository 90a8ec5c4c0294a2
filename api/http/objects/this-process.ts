/**
 * What the API tells of this process: its ids, made of its settings so that they outlive a restart, and since when it
 * runs.
 */
import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import type { ApiServices } from '../services.js';

type Config = ApiServices['config'];

const startedAt = new Date(Date.now() - process.uptime() * 1_000).toISOString();

interface ThisProcess {
  readonly nodeId: string;
  readonly clusterId: string;
  /** ISO 8601. */
  readonly startedAt: string;
}

export function thisProcess(config: Config): ThisProcess {
  return {
    nodeId: idOf(`${hostname()} ${config.data_folder}`),
    clusterId: idOf(`${config.store.kind} ${config.store.opensearch.nodes.join()} ${config.topics.prefix}`),
    startedAt,
  };
}

const idOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 32);
