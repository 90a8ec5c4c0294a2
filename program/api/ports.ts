/** The ports of the API and of the control socket, over the running program. */
import type { ControlPorts, ControlProcessing } from '../../api/control/contract.js';
import type { Operations, RunningOutputs, RunningReceivers } from '../../api/contract.js';
import type { ApiServices } from '../../api/http/services.js';
import type { Log } from '../../core/log.js';
import type { Registry } from '../../core/metrics.js';
import { createDryRuns } from '../../definitions/dry-run.js';
import { uploadedDocument } from '../../gelf/uploaded.js';
import { graylogTranslators } from '../../definitions/graylog/translators.js';
import type { Config } from '../../schemas/config/config.js';
import { exportedFields, exportText } from '../../search/export.js';
import { readQuery } from '../../search/language/read-query.js';
import type { Sluice } from '../sluice.js';

/** What the API is composed from. */
export interface ProgramParts {
  /** Started before the API is. */
  readonly sluice: Sluice;
  readonly config: Config;
  readonly registry: Registry;
  readonly log: Log;
}

type HttpPorts = Pick<
  ApiServices,
  | 'definitions'
  | 'dryRuns'
  | 'graylog'
  | 'health'
  | 'indices'
  | 'leftOutStreams'
  | 'monitoring'
  | 'operations'
  | 'outputs'
  | 'processing'
  | 'deadLetterQuery'
  | 'language'
  | 'receiverKinds'
  | 'receivers'
  | 'rules'
>;

export function httpPorts(sluice: Sluice): HttpPorts {
  return {
    definitions: sluice.world,
    dryRuns: createDryRuns(uploadedDocument),
    graylog: graylogTranslators,
    health: { writable: () => sluice.topics.writable(), ready: () => sluice.ready() },
    indices: {
      list: async (indexSet) => (await sluice.store?.indices.list(indexSet)) ?? [],
      health: async () => (await sluice.store?.health()) ?? { ok: false, reason: 'this process has no store' },
    },
    leftOutStreams: () => sluice.world.leftOut('streams'),
    monitoring: sluice.view,
    operations: operationsOf(sluice),
    outputs: outputsOf(sluice),
    processing: {
      get isHere() {
        return sluice.processor !== undefined;
      },
      lag: async () => (await sluice.processor?.lag()) ?? 0,
      collect: async () => sluice.processor?.collect(),
    },
    deadLetterQuery: readQuery,
    language: sluice.language,
    receiverKinds: sluice.receiverKinds.kinds,
    receivers: receiversOf(sluice),
    rules: () => sluice.rules(),
  };
}

export function controlPorts(sluice: Sluice, adminPort: () => number | undefined): ControlPorts {
  const { store } = sluice;
  return {
    rules: () => sluice.rules(),
    health: { ready: () => sluice.ready() },
    searcher: sluice.searcher,
    indices:
      store === undefined
        ? undefined
        : {
            list: (indexSet) => store.indices.list(indexSet),
            scanIds: (indices, onIds) => store.queries.scanIds(indices, onIds),
            refresh: (indices) => store.indices.refresh(indices),
          },
    deadLetterQuery: readQuery,
    rowExport: { fields: exportedFields, text: exportText },
    operations: operationsOf(sluice),
    processing: () => processingOf(sluice),
    receivers: receiversOf(sluice),
    outputs: outputsOf(sluice),
    monitoring: sluice.view,
    taps: sluice.view.taps,
    adminPort,
  };
}

function processingOf({ processor }: Sluice): ControlProcessing | undefined {
  if (processor === undefined) return undefined;
  return {
    collect: () => processor.collect(),
    rules: () => processor.rules(),
    epoch: () => processor.ledger.latestEpoch(),
    partitions: () => processor.partitions(),
    lag: () => processor.lag(),
    parked: () => processor.parking.list(),
    abandonIndex: (index) => processor.abandonIndex(index),
    checkRetention: () => processor.indexSets.checkRetention(),
  };
}

const operationsOf = (sluice: Sluice) => (): Operations | undefined => sluice.operations;

function outputsOf(sluice: Sluice): RunningOutputs {
  return {
    status: async () => (await sluice.outputs?.status()) ?? [],
    collect: async () => sluice.outputs?.collect(),
  };
}

function receiversOf(sluice: Sluice): RunningReceivers {
  return {
    areHere: sluice.runtimeReceivers !== undefined,
    list: () => sluice.receivers,
    stateOf: (id) => sluice.runtimeReceivers?.state(id),
  };
}
