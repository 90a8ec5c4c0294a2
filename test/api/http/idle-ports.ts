/** Ports of a program that has nothing: no definitions, no indices, no receivers. */
import type { ApiServices } from '../../../api/http/services.js';
import { createDryRuns } from '../../../definitions/dry-run.js';
import { uploadedDocument } from '../../../gelf/uploaded.js';
import { graylogTranslators } from '../../../definitions/graylog/translators.js';
import { readQuery } from '../../../search/language/read-query.js';

const fine = { ok: true, reason: '' };
const unused = (): never => {
  throw new Error('there are no definitions here');
};

export function idlePorts(): Pick<
  ApiServices,
  | 'definitions'
  | 'dryRuns'
  | 'graylog'
  | 'health'
  | 'indices'
  | 'monitoring'
  | 'operations'
  | 'outputs'
  | 'processing'
  | 'deadLetterQuery'
  | 'receivers'
> {
  return {
    definitions: {
      writer: unused,
      stored: () => [],
      catalog: unused,
      obfuscationOfFiles: async () => ({}),
      leftOut: () => [],
      rulesWith: unused,
      receivers: () => [],
    },
    dryRuns: createDryRuns(uploadedDocument),
    graylog: graylogTranslators,
    health: { writable: () => fine, ready: async () => ({ ok: true, checks: [] }) },
    indices: { list: async () => [], health: async () => fine },
    monitoring: {
      top: async () => ({ at: 0, senders: [], streams: {}, rules: {} }),
      counts: async () => ({ received: 0, refused: 0, shed: 0, appended: 0, stored: 0, dead_lettered: 0 }),
      oldestUnprocessed: async () => 0,
      problems: () => [],
    },
    operations: () => undefined,
    outputs: { status: async () => [], collect: async () => undefined },
    processing: { isHere: false, lag: async () => 0, collect: async () => undefined },
    deadLetterQuery: readQuery,
    receivers: { areHere: false, list: () => [], stateOf: () => undefined },
  };
}
