/**
 * Compares what an independent reader finds in the topic with what the store holds. Every accepted id must be exactly
 * once in `sluice_default` or (while the rules move messages) in `fault_moved`, and those that the rules also send
 * there exactly once in `fault_side`; a dead letter counts for the index set that it was meant for.
 */
import { silentLog } from '../../../core/log.js';
import { Registry } from '../../../core/metrics.js';
import { loadConfig } from '../../../program/settings.js';
import { createTopicLog } from '../../../program/topic-log.js';
import { indexPrefix } from '../../../schemas/index-names.js';
import type { Program } from '../../program.js';

export interface Reckoning {
  readonly accepted: number;
  /** Records that stand in the topic again, after a lost acknowledgement. */
  readonly resent: number;
  readonly stored: number;
  readonly deadLetters: number;
  readonly missing: readonly string[];
  readonly doubled: readonly string[];
  /** Messages behind a later one of their TCP connection. */
  readonly outOfOrder: number;
  /** Answered with 202 and not in the topic. */
  readonly unaccepted: readonly string[];
}

export const sideSet = 'fault_side';
export const movedSet = 'fault_moved';
const deadLetterSet = 'sluice_dead_letters';

export interface Reckoner {
  /** Keeps the ids that the indices hold now: what retention removes later is not missing. */
  remember(program: Program): Promise<void>;
  /** What the topic held when it was read last, by connection and sequence. */
  names(): ReadonlyMap<string, ReadonlySet<number>>;
  /** Reads what is new in the topic. */
  readTopic(): Promise<void>;
  /** The topic is made again: its offsets begin anew, what it held was accepted. */
  topicMadeAgain(): void;
  reckon(program: Program, acknowledged: ReadonlySet<string>): Promise<Reckoning>;
}

interface Message {
  readonly side: boolean;
}

export function createReckoner(settingsFile: string): Reckoner {
  const accepted = new Map<string, Message>();
  const positions = new Map<number, number>();
  const lastOf = new Map<string, number>();
  const overHttp = new Set<string>();
  const names = new Map<string, Set<number>>();
  /** By concrete index. */
  const found = new Map<string, readonly string[]>();
  const counts = { resent: 0, outOfOrder: 0 };

  const take = (key: string, value: Buffer): void => {
    if (accepted.has(key)) {
      counts.resent += 1;
      return;
    }
    const message = JSON.parse(value.toString('utf8')) as {
      _load_connection?: string;
      _load_sequence?: number;
      _load_side?: string;
    };
    accepted.set(key, { side: message._load_side !== undefined });
    const { _load_connection: connection, _load_sequence: sequence } = message;
    if (connection === undefined || sequence === undefined) return;
    const known = names.get(connection);
    if (known === undefined) names.set(connection, new Set([sequence]));
    else known.add(sequence);
    if (connection.startsWith('h')) {
      overHttp.add(`${connection}/${sequence}`);
      return;
    }
    if (sequence <= (lastOf.get(connection) ?? 0)) counts.outOfOrder += 1;
    lastOf.set(connection, sequence);
  };

  const readTopic = async (): Promise<void> => {
    const { config } = loadConfig({ file: settingsFile, environment: {} });
    const log = createTopicLog(config, { registry: new Registry(), log: silentLog, readOnly: true });
    const topic = `${config.topics.prefix}logs`;
    if (config.topics.kind !== 'embedded') await log.start();
    try {
      for (const { partition, earliest } of await log.partitions(topic)) {
        await log.read(topic, partition, Math.max(earliest, positions.get(partition) ?? 0), (records) => {
          for (const { key, value, offset } of records) {
            take(key, value);
            positions.set(partition, offset + 1);
          }
        });
      }
    } finally {
      await log.stop(5_000);
    }
  };

  const scan = async (program: Program): Promise<void> => {
    const fresh = new Map<string, string[]>();
    for (const body of [{}, { index_sets: [deadLetterSet] }]) {
      await program.control.request('POST', '/refresh', body);
      await program.control.stream('/scan-ids', body, (line) => {
        const { index, ids } = line as { index: string; ids: readonly string[] };
        const known = fresh.get(index);
        if (known === undefined) fresh.set(index, [...ids]);
        else for (const id of ids) known.push(id);
      });
    }
    for (const [index, ids] of fresh) found.set(index, ids);
  };

  return {
    remember: scan,
    names: () => names,
    readTopic,
    topicMadeAgain: () => positions.clear(),
    async reckon(program, acknowledged) {
      await readTopic();
      await scan(program);
      const { main, side, deadLetters } = countPlaces(found);
      const missing: string[] = [];
      const doubled: string[] = [];
      let stored = 0;
      for (const [id, message] of accepted) {
        const places = main.get(id) ?? 0;
        const sides = side.get(id) ?? 0;
        if (places > 0) stored += 1;
        if (places === 0 || (message.side && sides === 0)) missing.push(id);
        if (places > 1 || sides > 1) doubled.push(id);
      }
      const unaccepted = [...acknowledged].filter((name) => !overHttp.has(name));
      return {
        accepted: accepted.size,
        resent: counts.resent,
        stored,
        deadLetters,
        missing,
        doubled,
        outOfOrder: counts.outOfOrder,
        unaccepted,
      };
    },
  };
}

function countPlaces(found: ReadonlyMap<string, readonly string[]>): {
  main: Map<string, number>;
  side: Map<string, number>;
  deadLetters: number;
} {
  const main = new Map<string, number>();
  const side = new Map<string, number>();
  let deadLetters = 0;
  const add = (counts: Map<string, number>, id: string): void => {
    counts.set(id, (counts.get(id) ?? 0) + 1);
  };
  for (const [index, ids] of found) {
    const set = indexPrefix(index) ?? index;
    if (set === deadLetterSet) {
      deadLetters += ids.length;
      for (const deadLetter of ids) {
        const [id, meant] = deadLetter.split('@') as [string, string | undefined];
        if (meant !== sideSet) add(main, id);
        if (meant === sideSet || meant === '') add(side, id);
      }
    } else for (const id of ids) add(set === sideSet ? side : main, id);
  }
  return { main, side, deadLetters };
}
