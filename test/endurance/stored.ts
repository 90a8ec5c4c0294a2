/** What became of the honest messages, and of every message that the topic holds. */
import type { Program } from '../program.js';
import { seenOf, type TopicView } from './tail.js';

export interface HonestReckoning {
  readonly honest: Readonly<Record<'tcp' | 'udp' | 'http', { readonly sent: number; readonly seen: number }>>;
  /**
   * Honest messages that stand twice in the topic under different ids, and those of a connection behind a later one.
   */
  readonly doubled: number;
  readonly outOfOrder: number;
  /** Ids of the topic that no index set holds, and those that one holds twice. */
  readonly missing: number;
  readonly storedTwice: number;
  readonly examples: readonly string[];
}

export async function reckonHonest(
  program: Program,
  topic: TopicView,
  sent: Readonly<Record<'tcp' | 'udp' | 'http', number>>,
): Promise<HonestReckoning> {
  const stored = new Map<string, string>();
  const twice: string[] = [];
  for (const body of [{}, { index_sets: ['sluice_dead_letters'] }]) {
    await program.control.stream('/scan-ids', body, (line) => {
      const { index, ids } = line as { readonly index: string; readonly ids: readonly string[] };
      for (const id of ids) {
        const message = id.split('@')[0] as string;
        if (!topic.ids.has(message)) continue;
        const place = stored.get(message);
        if (place !== undefined) twice.push(`${id} in ${place} and ${index}`);
        stored.set(message, index);
      }
    });
  }
  const part = (by: 'tcp' | 'udp' | 'http'): { sent: number; seen: number } => ({
    sent: sent[by],
    seen: seenOf(topic, by),
  });
  return {
    honest: { tcp: part('tcp'), udp: part('udp'), http: part('http') },
    doubled: topic.doubled,
    outOfOrder: topic.outOfOrder,
    missing: topic.ids.size - stored.size,
    storedTwice: twice.length,
    examples: twice.slice(0, 5),
  };
}
