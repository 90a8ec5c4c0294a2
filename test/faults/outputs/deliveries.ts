/**
 * What came to one destination: which numbered messages, how often, and in which order they came for the first time.
 */
import { splitFrames } from '../../sinks/outputs/receivers.js';

/** Names of messages as `<connection>/<sequence>`, apart by connection. */
type Accepted = ReadonlyMap<string, ReadonlySet<number>>;

export interface Judgement {
  readonly delivered: number;
  readonly missing: readonly string[];
  /** Came again: allowed, and counted. */
  readonly repeated: number;
  /** Came for the first time behind a later one of their TCP connection. */
  readonly outOfOrder: number;
}

export interface Deliveries {
  /**
   * Bytes of one connection, in any pieces. GELF ends with NUL, syslog with a newline; neither holds the other's end.
   */
  take(bytes: Buffer, connection: number): void;
  /** Different messages so far. */
  count(): number;
  judge(accepted: Accepted): Judgement;
}

const name = /load_connection"?[:=]"([th]\d+)"/;
const number = /load_sequence"?[:=]"?(\d+)/;

export function createDeliveries(delimiter: number): Deliveries {
  const rests = new Map<number, Buffer>();
  const lanes = new Map<string, { readonly seen: Set<number>; highest: number }>();
  let delivered = 0;
  let repeated = 0;
  let outOfOrder = 0;

  const see = (frame: string): void => {
    const connection = name.exec(frame)?.[1];
    if (connection === undefined) return;
    const sequence = Number(number.exec(frame)?.[1]);
    let lane = lanes.get(connection);
    if (lane === undefined) lanes.set(connection, (lane = { seen: new Set(), highest: 0 }));
    if (lane.seen.has(sequence)) {
      repeated += 1;
      return;
    }
    lane.seen.add(sequence);
    delivered += 1;
    if (sequence < lane.highest && connection.startsWith('t')) outOfOrder += 1;
    lane.highest = Math.max(lane.highest, sequence);
  };

  return {
    take(bytes, connection) {
      const rest = rests.get(connection);
      const all = rest === undefined ? bytes : Buffer.concat([rest, bytes]);
      const end = all.lastIndexOf(delimiter) + 1;
      for (const frame of splitFrames(all.subarray(0, end), delimiter)) see(frame);
      rests.set(connection, all.subarray(end));
    },
    count: () => delivered,
    judge(accepted) {
      const missing: string[] = [];
      for (const [connection, sequences] of accepted) {
        const seen = lanes.get(connection)?.seen;
        for (const sequence of sequences) if (seen?.has(sequence) !== true) missing.push(`${connection}/${sequence}`);
      }
      return { delivered, missing, repeated, outOfOrder };
    },
  };
}
