/**
 * How much may wait for an output. `refusal` says why it takes no newer messages: by its policy, or because the disk of
 * embedded topics is running out, which must not stop the topic logs. What it says may be a few seconds old.
 */
import { statfs } from 'node:fs/promises';
import type { Config } from '../../schemas/config/config.js';
import type { OutputSettings } from '../../schemas/outputs/output.js';
import type { TopicLog } from '../../topics/contract.js';
import { outputGroup, outputTopic } from './topics.js';

type Refusal = 'newest' | 'age' | 'disk';

interface Backlog {
  readonly messages: number;
  readonly bytes: number;
  /** Offset after the last message. */
  readonly logEnd: number;
  /** Bytes of a message with all that is kept with it. */
  readonly bytesEach: number;
}

export const maxWaitingBytes = ({ topics }: Config, output: Pick<OutputSettings, 'max_waiting_bytes'>): number =>
  output.max_waiting_bytes ?? topics.retention_bytes;
export const maxAgeMs = ({ topics }: Config, output: Pick<OutputSettings, 'max_age_ms'>): number =>
  output.max_age_ms ?? topics.retention_ms;

/** Kafka does not tell bytes; a message of usual size stands in where nothing better is known. */
const guessedBytes = 600;

export async function backlogOf(
  topics: TopicLog,
  topic: string,
  group: string,
  knownBytesEach = guessedBytes,
): Promise<Backlog> {
  const [[state], committed] = await Promise.all([topics.partitions(topic), topics.committed(group, topic)]);
  if (state === undefined) return { messages: 0, bytes: 0, logEnd: 0, bytesEach: knownBytesEach };
  const all = state.logEnd - state.earliest;
  const bytesEach = state.bytes === undefined || all <= 0 ? knownBytesEach : state.bytes / all;
  const messages = Math.max(0, state.logEnd - Math.max(state.earliest, committed.get(0) ?? 0));
  return { messages, bytes: messages * bytesEach, logEnd: state.logEnd, bytesEach };
}

export interface Limits {
  refusal(output: OutputSettings): Refusal | undefined;
  /** Bytes of a message that was appended, where the topic does not tell. */
  appended(output: string, messages: number, bytes: number): void;
}

interface State {
  refusal: Refusal | undefined;
  lookedAt: number;
  looking: boolean;
  bytesEach: number;
  /** Log ends of earlier looks: what lies below one was appended before it. */
  samples: { readonly at: number; readonly logEnd: number }[];
}

/** A log that measures itself is asked more often. */
const lookEveryMs = { measured: 500, estimated: 5_000 } as const;
/** Samples kept for the age of the oldest message; it is known to this share of the allowed age. */
const maxSamples = 100;
/** Of the reserve that topics keep free: outputs stop taking messages before the topic logs have to. */
const reserveFactor = 2;

export function createLimits(config: Config, topics: TopicLog, now: () => number = Date.now): Limits {
  const states = new Map<string, State>();
  const { measuresBytes, reserveBytes } = topics.capabilities();
  const lookMs = measuresBytes ? lookEveryMs.measured : lookEveryMs.estimated;

  const stateOf = (id: string): State => {
    const known = states.get(id);
    if (known !== undefined) return known;
    const state: State = { refusal: undefined, lookedAt: 0, looking: false, bytesEach: guessedBytes, samples: [] };
    states.set(id, state);
    return state;
  };

  const look = async (output: OutputSettings, state: State): Promise<void> => {
    const backlog = await backlogOf(
      topics,
      outputTopic(config, output.id),
      outputGroup(config, output.id),
      state.bytesEach,
    );
    state.bytesEach = backlog.bytesEach;
    state.refusal = undefined;
    if (backlog.messages > 0 && reserveBytes !== undefined && (await isDiskLow(config.data_folder, reserveBytes)))
      state.refusal = 'disk';
    else if (output.on_full === 'drop_newest') {
      const age = ageOfOldest(state, backlog, now(), maxAgeMs(config, output));
      if (backlog.bytes >= maxWaitingBytes(config, output)) state.refusal = 'newest';
      else if (age >= maxAgeMs(config, output)) state.refusal = 'age';
    }
  };

  return {
    refusal(output) {
      const state = stateOf(output.id);
      if (!state.looking && now() - state.lookedAt >= lookMs) {
        state.looking = true;
        // A topic that cannot be looked at is appended to as before.
        look(output, state)
          .catch(() => {
            state.refusal = undefined;
          })
          .finally(() => {
            state.looking = false;
            state.lookedAt = now();
          });
      }
      return state.refusal;
    },
    appended(output, messages, bytes) {
      const state = stateOf(output);
      if (!measuresBytes && messages > 0) state.bytesEach += (bytes / messages - state.bytesEach) / 10;
    },
  };
}

/** At least so old is the oldest waiting message, as far as this process has seen it wait. */
function ageOfOldest(state: State, { messages, logEnd }: Backlog, at: number, allowed: number): number {
  const first = logEnd - messages;
  state.samples = state.samples.filter((sample) => sample.logEnd > first);
  const last = state.samples.at(-1);
  if (messages > 0 && (last === undefined || at - last.at >= allowed / maxSamples)) state.samples.push({ at, logEnd });
  return state.samples[0] === undefined ? 0 : at - state.samples[0].at;
}

async function isDiskLow(folder: string, reserveBytes: number): Promise<boolean> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize < reserveBytes * reserveFactor;
}
