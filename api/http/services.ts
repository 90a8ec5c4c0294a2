/** What the routes work with. The composition (`create-services.ts`) builds it; tests build their own. */
import type { Access, AccessAdministration } from '../../access/contract.js';
import type { Log } from '../../core/log.js';
import type { Registry } from '../../core/metrics.js';
import type { Sluice } from '../../program/sluice.js';
import type { ReceiverDescription } from '../../schemas/receiver-kinds.js';
import type { Config } from '../../schemas/config/config.js';
import type { QueryLanguage, Searcher } from '../../search/contract.js';
import type { StateStore } from '../../state/contract.js';
import type { AuditTrail } from './audit-trail.js';
import type { ApiServer } from './contract.js';

/** Streams, index sets and outputs as the rules say. */
export type RuleSet = NonNullable<ReturnType<Sluice['rules']>>;
export type Stream = RuleSet['streams'][number];

/** Registers the routes of one resource. */
export type ApiRoutes = (app: ApiServer, services: ApiServices) => void;

export interface ApiServices {
  readonly config: Config;
  readonly receiverKinds: readonly ReceiverDescription[];
  readonly access: Access & AccessAdministration;
  readonly searcher: Searcher;
  readonly language: QueryLanguage;
  readonly state: StateStore;
  /** The running pipeline: store, processor, outputs, receivers, view. */
  readonly sluice: Sluice;
  /** The rules in force: streams, index sets, outputs. */
  rules(): RuleSet | undefined;
  /** Streams of the API that do not fit the rules at the moment: not in `rules`, and to be repaired or deleted by those who may. */
  leftOutStreams?(): readonly Pick<Stream, 'id'>[];
  readonly audit: AuditTrail;
  readonly registry: Registry;
  readonly log: Log;
}

/** What several processes of the API share; undefined where there is only one. */
export function sharedStateOf({ config, state }: Pick<ApiServices, 'config' | 'state'>): StateStore | undefined {
  return config.store.kind === 'embedded' ? undefined : state;
}
