/**
 * What the routes work with, a port for each subject. `program/api/` builds it; tests build their own. A resource names
 * the ports that it uses.
 */
import type { Access, AccessAdministration } from '../../access/contract.js';
import type { Log } from '../../core/log.js';
import type { Registry } from '../../core/metrics.js';
import type { Definitions, DryRuns } from '../../definitions/contract.js';
import type { GraylogTranslators } from '../../definitions/graylog/contract.js';
import type { Monitoring } from '../../pipeline/monitoring/contract.js';
import type { RuleSet } from '../../rules/contract.js';
import type { ReceiverDescription } from '../../schemas/receiver-kinds.js';
import type { Config } from '../../schemas/config/config.js';
import type { QueryLanguage, ReadQuery, Searcher } from '../../search/contract.js';
import type { StateStore } from '../../state/contract.js';
import type {
  Health,
  Indices,
  Operations,
  Processing,
  RulesInForce,
  RunningOutputs,
  RunningReceivers,
} from '../contract.js';
import type { AuditTrail } from './audit/audit-trail.js';
import type { ApiServer } from './contract.js';

export type Stream = RuleSet['streams'][number];

/** Registers the routes of one resource. */
export type ApiRoutes = (app: ApiServer, services: ApiServices) => void;

export interface ApiServices {
  readonly config: Config;
  readonly receiverKinds: readonly ReceiverDescription[];
  readonly access: Access & AccessAdministration;
  readonly searcher: Searcher;
  readonly language: QueryLanguage;
  /** Reads queries for dead letters. The limits that the settings have for searches do not count here. */
  readonly deadLetterQuery: ReadQuery;
  readonly state: StateStore;
  readonly rules: RulesInForce;
  /**
   * Streams of the API that do not fit the rules at the moment: not in `rules`, and to be repaired or deleted by those
   * who may.
   */
  leftOutStreams?(): readonly Pick<Stream, 'id'>[];
  readonly definitions: Definitions;
  readonly dryRuns: DryRuns;
  readonly graylog: GraylogTranslators;
  readonly health: Health;
  readonly indices: Indices;
  /** Undefined while this process starts. */
  readonly operations: () => Operations | undefined;
  readonly processing: Processing;
  readonly receivers: RunningReceivers;
  readonly outputs: RunningOutputs;
  readonly monitoring: Monitoring;
  readonly audit: AuditTrail;
  readonly registry: Registry;
  readonly log: Log;
}

/** What several processes of the API share; undefined where there is only one. */
export function sharedStateOf({ config, state }: Pick<ApiServices, 'config' | 'state'>): StateStore | undefined {
  return config.store.kind === 'embedded' ? undefined : state;
}
