/** The rule file of the fault table. Each version makes a new epoch. */
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { movedSet, sideSet } from '../judging/reckoning.js';

export interface RuleChoice {
  /** Documents of an index of each set. Default: 20,000. */
  readonly maxDocuments?: number;
  /** Indices that retention leaves of `sluice_default`. Default: all. */
  readonly keep?: number;
  /** Every message leaves `sluice_default` for a set of its own. */
  readonly moved?: boolean;
  readonly refreshMs?: number;
  /** Outputs, each as JSON. */
  readonly outputs?: readonly string[];
}

export function writeRuleFile(folder: string, version: number, choice: RuleChoice): void {
  const rotation = `rotation: { type: count, max_documents: ${choice.maxDocuments ?? 20_000} }`;
  const retention =
    choice.keep === undefined
      ? 'retention: { type: none }'
      : `retention: { type: delete, max_indices: ${choice.keep} }`;
  const common = `replicas: 0, refresh_interval_ms: ${choice.refreshMs ?? 1_000}`;
  mkdirSync(folder, { recursive: true });
  const text = `
index_sets:
  - { id: sluice_default, title: Default, ${rotation}, ${retention}, ${common} }
  - { id: ${sideSet}, title: Side, ${rotation}, retention: { type: none }, ${common} }
  - { id: ${movedSet}, title: Moved, ${rotation}, retention: { type: none }, ${common} }
streams:
  - id: side
    title: Side
    index_set: ${sideSet}
    when: { field: load_side, exists: true }
  - id: moved
    title: Moved
    index_set: ${movedSet}
    remove_matches_from_default_stream: true
    enabled: ${choice.moved === true}
    when: { field: load_sequence, exists: true }
rules:
  - id: version
    when: { always: true }
    then: [{ set: { field: rules_version, value: ${version} } }]
${choice.outputs === undefined ? '' : `outputs:\n${choice.outputs.map((output) => `  - ${output}\n`).join('')}`}`;
  // Moved into place, so that no half file is ever read.
  writeFileSync(join(folder, '.fresh'), text);
  renameSync(join(folder, '.fresh'), join(folder, '50-faults.yaml'));
}
