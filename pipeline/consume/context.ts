/** What consuming a topic needs beyond what brings messages into their indices. */
import type { DeadLetterDeduplicator } from '../dead-letters/deduplicator.js';
import type { Taps } from '../monitoring/taps.js';
import type { ParkingTopics } from '../parking/topics.js';
import type { DeliveryContext } from '../settle/context.js';

export interface ConsumeContext extends DeliveryContext {
  readonly deadLetterDeduplicator: DeadLetterDeduplicator;
  readonly parkingTopics: ParkingTopics;
  /** Watchers of what is routed. */
  readonly taps?: Taps | undefined;
}
