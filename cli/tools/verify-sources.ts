/** What `sluice load --verify` reads: the topic by a reader of its own, the store through the running program. */
import { silentLog } from '../../core/log.js';
import { Registry } from '../../core/metrics.js';
import type { VerifySources } from '../../load/verify.js';
import { createTopicLog } from '../../program/topic-log.js';
import type { Config } from '../../schemas/config/config.js';
import type { SearchResult } from '../../schemas/query.js';
import { connectControl } from '../connect.js';

const deadLetterSet = 'sluice_dead_letters';

interface ScannedIds {
  readonly index: string;
  readonly ids: readonly string[];
}

/** The reader is asked for all that the topic held before it began; call `stop` at the end. */
export async function openVerifySources(
  config: Config,
): Promise<{ sources: VerifySources; stop: () => Promise<void> }> {
  const control = connectControl(config);
  await control.request('GET', '/status');
  const topics = createTopicLog(config, { registry: new Registry(), log: silentLog, readOnly: true });
  if (topics.capabilities().shared) await topics.start();
  const topic = `${config.topics.prefix}logs`;
  const scan = (body: unknown, onIds: (line: ScannedIds) => void | Promise<void>): Promise<void> =>
    control.stream('/scan-ids', body, (line) => onIds(line as ScannedIds));
  const sources: VerifySources = {
    async readTopic(onRecords) {
      for (const { partition, earliest } of await topics.partitions(topic)) {
        await topics.read(topic, partition, earliest, (records) =>
          onRecords(records.map(({ key, value }) => ({ id: key, value }))),
        );
      }
    },
    scanStore: (onIds) => scan({}, ({ index, ids }) => onIds(index, ids)),
    scanDeadLetters: (onIds) =>
      scan({ index_sets: [deadLetterSet] }, ({ ids }) =>
        onIds(ids.filter((id) => id.includes('@')).map((id) => id.slice(0, id.indexOf('@')))),
      ),
    lag: async () => ((await control.request('GET', '/status')) as { lag: number }).lag,
    searchable: async (run) =>
      ((await control.request('POST', '/search', { query: `load_run:"${run}"`, limit: 0 })) as SearchResult).total,
    refresh: async () => {
      await control.request('POST', '/refresh', {});
    },
  };
  return { sources, stop: () => topics.stop(5_000) };
}
