/** Declares a kind of receivers. Its file has everything about it; `registry.ts` has one line. */
import type { Static, TObject, TSchema } from 'typebox';
import type { ReceiverOptions } from '../schemas/config/receivers.js';
import type { GraylogSettings, ReceiverDescription } from '../schemas/receiver-kinds.js';
import type { Receiver } from './contract.js';
import { graylogSettings } from './graylog-settings.js';
import type { ReceiverContext } from './listen/context.js';

export interface ReceiverKind extends ReceiverDescription {
  /**
   * Whether every worker of the program listens, or the first one alone. TCP ports are shared by all. Of UDP the
   * datagrams of one sender must reach one process, or its chunks would never meet.
   */
  runsInEveryWorker(options: ReceiverOptions): boolean;
  create(options: ReceiverOptions, context: ReceiverContext): Receiver;
}

type ReceiverSettings = TObject<{ type: TSchema; name: TSchema; host: TSchema; port: TSchema; timestamp: TSchema }>;

interface Definition<Settings extends ReceiverSettings> {
  readonly type: string;
  readonly title: string;
  readonly transport: 'tcp' | 'udp';
  readonly byDefault?: boolean;
  readonly settings: Settings;
  readonly messageLimit: keyof Static<Settings> & string;
  /** Beside those that all have. */
  readonly graylogSettings?: GraylogSettings;
  readonly warnings?: (options: Static<Settings>) => readonly string[];
  readonly runsInEveryWorker?: (options: Static<Settings>) => boolean;
  readonly create: (options: Static<Settings>, context: ReceiverContext) => Receiver;
}

/** Settings come checked against the schema of their `type`: the only place where they get the type of their kind. */
export function defineReceiver<Settings extends ReceiverSettings>(definition: Definition<Settings>): ReceiverKind {
  const { warnings, runsInEveryWorker, create, byDefault = false } = definition;
  const own = (options: ReceiverOptions): Static<Settings> => options as Static<Settings>;
  return {
    ...definition,
    byDefault,
    graylogSettings: { ...graylogSettings, ...definition.graylogSettings },
    warnings: (options) => warnings?.(own(options)) ?? [],
    runsInEveryWorker: (options) => runsInEveryWorker?.(own(options)) ?? true,
    create: (options, context) => create(own(options), context),
  };
}
