/** A row of the fault table: one fault, what it does to a running system, and when the engine answers again. */
import type { EngineSet } from './world/own-engines.js';
import type { OutputReckoning } from './outputs/reckoning.js';
import type { Progress, World, WorldNeeds } from './world/world.js';

export interface Row {
  /** Kebab-case; chosen with `--rows`. */
  readonly name: string;
  /** As the table shows it. */
  readonly title: string;
  readonly sets: readonly EngineSet[];
  /** Shortest failures of simpler protocols that it would show (delivery-protocol: C1 to C10, E1, E2). */
  readonly cases?: readonly string[];
  readonly needs?: WorldNeeds;
  /** Why it cannot run on this machine; undefined when it can. */
  readonly missing?: () => string | undefined;
  /** From when the seconds to full speed count, for readers of the table. */
  readonly answers: string;
  /** The receiver is there all the time, so that everything sent must be accepted. */
  readonly acceptsAll?: boolean;
  /** Under load. Leaves the fault standing, or has it over when there is nothing to heal. */
  readonly inject: (world: World) => Promise<void>;
  /** Ends the fault; resolves at the moment that `answers` names. */
  readonly heal?: (world: World) => Promise<void>;
  /** What full speed is judged from, where it is more than the topics of logs. */
  readonly progress?: (world: World) => Promise<Progress>;
  /** After everything was worked off: what the destinations of outputs have. */
  readonly reckonOutputs?: (world: World) => Promise<OutputReckoning>;
  /** After full speed, with the senders stopped: what else must come to its end before the reckoning. */
  readonly settle?: (world: World) => Promise<void>;
}
