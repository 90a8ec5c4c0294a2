/** Compares what an independent reader finds in the topic with what the store holds. */
import { silentLog } from '../../core/log.js';
import { Registry } from '../../core/metrics.js';
import { loadConfig } from '../../config/load.js';
import { createTopicLog } from '../../pipeline/topics/registry.js';
import type { Program } from '../program.js';

export interface Reckoning {
  readonly accepted: number;
  readonly resent: number;
  readonly stored: number;
  readonly missing: readonly string[];
  readonly doubled: readonly string[];
  /** Load messages behind a later one of their connection. */
  readonly outOfOrder: number;
}

const most = 10;

export async function reckon(program: Program): Promise<Reckoning> {
  const accepted = await acceptedIds(program.settingsFile);
  const places = new Map<string, number>();
  for (const body of [{}, { index_sets: ['sluice_dead_letters'] }]) {
    await program.control.stream('POST', '/scan-ids', body, (line) => {
      for (const id of (line as { ids: readonly string[] }).ids) {
        const message = id.split('@')[0] as string;
        places.set(message, (places.get(message) ?? 0) + 1);
      }
    });
  }
  const missing = [...accepted.ids].filter((id) => !places.has(id));
  const doubled = [...places].filter(([, count]) => count > 1).map(([id]) => id);
  return { accepted: accepted.ids.size, resent: accepted.resent, stored: places.size, missing: missing.slice(0, most), doubled: doubled.slice(0, most), outOfOrder: accepted.outOfOrder };
}

async function acceptedIds(settingsFile: string): Promise<{ ids: Set<string>; resent: number; outOfOrder: number }> {
  const { config } = loadConfig({ file: settingsFile, environment: {} });
  const log = createTopicLog(config, { registry: new Registry(), log: silentLog, readOnly: true });
  const topic = `${config.topics.prefix}logs`;
  const ids = new Set<string>();
  /** A TCP connection keeps to one partition; a sender that connects again may get another one. */
  const last = new Map<string, number>();
  let resent = 0;
  let outOfOrder = 0;
  if (config.topics.kind !== 'embedded') await log.start();
  try {
    for (const { partition, earliest } of await log.partitions(topic)) {
      await log.read(topic, partition, earliest, (records) => {
        for (const { key, value } of records) {
          if (ids.has(key)) {
            resent += 1;
            continue;
          }
          ids.add(key);
          const message = JSON.parse(value.toString('utf8')) as { _load_connection?: number; _load_sequence?: number };
          if (message._load_connection === undefined || message._load_sequence === undefined) continue;
          const lane = `${partition} ${message._load_connection}`;
          if (message._load_sequence <= (last.get(lane) ?? 0)) outOfOrder += 1;
          last.set(lane, message._load_sequence);
        }
      });
    }
  } finally {
    await log.stop(5_000);
  }
  return { ids, resent, outOfOrder };
}
