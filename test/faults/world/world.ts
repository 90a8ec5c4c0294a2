/** One running system for a group of rows: the programs on their engines, their rule files, and the senders. */
import type { OwnEngines, EngineSet } from './own-engines.js';
import type { HttpProxy } from '../causes/http-proxy.js';
import type { Host } from '../causes/network.js';
import type { PowerCut } from '../causes/power-cut.js';
import type { Destinations, OutputNeeds } from '../outputs/destinations.js';
import type { Random } from './random.js';
import type { Reckoner } from '../judging/reckoning.js';
import type { TcpProxy } from '../causes/tcp-proxy.js';
import type { Traffic } from './traffic.js';
import type { Program } from '../../program.js';
import type { RuleChoice } from './rule-files.js';

/** `one`: everything in one process. `split`: a receiver and a processor. `pair`: a receiver and two processors. */
type Shape = 'one' | 'split' | 'pair';

/** What the rows of a world need it to be. Rows whose needs are equal share one world. */
export interface WorldNeeds {
  /** Default: `one` on the embedded engines, else `split`. */
  readonly shape?: Shape;
  /** Laid over the usual settings. */
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly rules?: RuleChoice;
  /** The data folder is a file system of its own, this large. */
  readonly diskBytes?: number;
  /** Bytes that each message is longer. */
  readonly padding?: number;
  /** Outputs of all messages, and their destinations. On Kafka they run in a process of their own. */
  readonly outputs?: OutputNeeds;
  /** The programs' clock can be moved. */
  readonly clock?: boolean;
  /** What the program had not synced can be taken from it. */
  readonly powerCut?: boolean;
  /** The row leaves a world behind that no other row should run in, and wants a fresh one. */
  readonly alone?: boolean;
}

/** One process of the program, over its restarts. */
export interface Process {
  readonly name: string;
  readonly role: 'all' | 'receiver' | 'processor' | 'output';
  readonly folder: string;
  /** Between this process alone and OpenSearch; none on the embedded engines. */
  readonly proxy: HttpProxy | undefined;
  readonly host: Host | undefined;
  readonly running: boolean;
  readonly paused: boolean;
  /** Throws when it does not run. */
  program(): Program;
  /** Resolves when it says that it runs. */
  start(): Promise<Program>;
  /** Resolves when it is gone. */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>;
  pause(): void;
  resume(): void;
  /** Settings that differ from its next start on. */
  change(settings: Readonly<Record<string, unknown>>): void;
}

export interface Progress {
  /** Messages in the topic `logs` since it was made. */
  readonly accepted: number;
  /** Accepted and not committed, over both consumed topics. */
  readonly lag: number;
}

export interface World {
  readonly set: EngineSet;
  readonly folder: string;
  readonly dataFolder: string;
  readonly own: OwnEngines | undefined;
  readonly receiver: Process;
  /** On the embedded engines the receiver itself. */
  readonly processors: readonly [Process, ...Process[]];
  readonly reckoner: Reckoner;
  readonly random: Random;
  /** Messages a second. */
  readonly rate: number;
  /** Rounds of a fault that comes again and again. */
  readonly rounds: number;
  /** How long an engine is away, milliseconds. */
  readonly awayMs: number;
  readonly topicPrefix: string;
  readonly group: string;
  readonly stateIndex: string;
  /** The first processor's way to OpenSearch. Throws on the embedded engines. */
  readonly http: HttpProxy;
  /** Throws where there is none. */
  readonly kafka: TcpProxy;
  readonly engines: OwnEngines['engines'];
  progress(): Promise<Progress>;
  /** Throws in a world without outputs. */
  readonly destinations: Destinations;
  /** The process with the role output; of the embedded engines the one with all. */
  readonly outputProcess: Process;
  /** Messages that wait for the output with the longest queue, its unconfirmed ones included. */
  outputsLag(): Promise<number>;
  startTraffic(): Traffic;
  /** Writes the rule files anew, with the next version and these choices. */
  writeRules(choice?: RuleChoice): void;
  /** By the first processor that answers. */
  rotate(indexSet?: string): Promise<void>;
  retire(): Promise<void>;
  /** Asks OpenSearch itself, past the proxies. */
  openSearch(method: string, path: string, body?: unknown): Promise<unknown>;
  /** Whether the receiver listens from its next start on. */
  listens(does: boolean): void;
  /** Sets the clock of the programs forward or back from the true time, in seconds. */
  moveClock(seconds: number): void;
  /** The data folder's file system, filled until nothing fits, or emptied again. */
  fillDisk(): void;
  emptyDisk(): void;
  /** Throws in a world without it. */
  readonly power: PowerCut;
  /** A processor that runs and is not paused. */
  answering(): Promise<Program>;
  close(): Promise<void>;
}
