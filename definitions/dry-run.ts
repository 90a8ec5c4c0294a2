/** Streams and rules tried before, or without, being used: on one message, and on what is stored. */
import type { LogDocument } from '../schemas/messages.js';
import { compileRules } from '../rules/compile/compile.js';
import type { RuleSet, RuleSource } from '../rules/contract.js';
import { createEngine } from '../rules/engine/engine.js';
import { explain } from '../rules/engine/explain.js';
import { programOf } from '../rules/engine/program.js';
import { describeProblems, invalid } from './check.js';
import type { DryRuns, Matcher, MessageDryRun } from './contract.js';
import { dryRunObfuscation, patternProblem } from './dry-run-text.js';
import type { StoredDefinition, StoredDefinitions, RuleKind, Settings } from './stored.js';
import { withObjects } from './loader.js';

const triedId = 'tried';
const triedFile = 'api/tried.yaml';

/** Reads bytes as a sender sends them, or a stored document. Throws the decoder's error. */
type ReadDocument = (message: Buffer, receiver: string) => LogDocument;

export function createDryRuns(readDocument: ReadDocument): DryRuns {
  return {
    message: (rules, message, receiver) => dryRunMessage(rules, readDocument(message, receiver), receiver),
    streamMatcher,
    memberMatcher,
    obfuscation: dryRunObfuscation,
    patternProblem,
  };
}

function dryRunMessage(rules: RuleSet, document: LogDocument, receiver: string): MessageDryRun {
  const receivedBy = typeof document['receiver'] === 'string' ? document['receiver'] : receiver;
  const explanation = explain(rules, document, { messageId: 'test', receiver: receivedBy }, { measured: false });
  return {
    document,
    explanation,
    stream: (id) => explanation.streams.find((stream) => stream.id === id),
    rule: (id) => explanation.rules.find((rule) => rule.id === id),
  };
}

/** The rules as they would be with one more definition, or with another one of its id. Throws OBJECT_INVALID. */
export function compileWith(
  files: RuleSource,
  stored: StoredDefinitions,
  kind: RuleKind,
  definition: Settings,
): RuleSet {
  const id = typeof definition['id'] === 'string' ? definition['id'] : triedId;
  const tried: StoredDefinition = {
    kind,
    id,
    definition: { ...definition, id },
    secrets: {},
    created_at: '9',
    created_by: '',
    changed_at: '',
    changed_by: '',
    revision: '',
  };
  const objects = [...stored.filter((object) => object.kind !== kind || object.id !== id), tried];
  const result = compileRules(withObjects(files, objects));
  if ('ruleSet' in result) return result.ruleSet;
  throw invalid(describeProblems(result.problems, tried, objects));
}

/** By `when`, or by `rules` and `matching_type`, as a stream has them. */
function streamMatcher(condition: Settings): Matcher {
  const rules = compiled({ streams: [{ ...condition, id: triedId, index_set: undefined }] });
  return (document, id) => rules.apply({ ...document }, contextOf(document, id)).streams.includes(triedId);
}

/**
 * Whether a stored document goes to a stream of these rules, by its condition or by what routes to it. Counts nothing.
 */
function memberMatcher(rules: RuleSet, stream: string): Matcher {
  const engine = createEngine(programOf(rules));
  return (document, id) => engine.apply({ ...document }, contextOf(document, id)).streams.includes(stream);
}

function compiled(file: object): RuleSet {
  const source: RuleSource = { files: [{ name: triedFile, text: JSON.stringify(file) }] };
  const result = compileRules(source);
  if ('ruleSet' in result) return result.ruleSet;
  throw invalid(
    result.problems.map(({ path, message, allowed }) => ({
      field: path.replace(/^streams\[0\]\.?/, ''),
      message: allowed === undefined ? message : `${message} Allowed: ${allowed}.`,
    })),
  );
}

function contextOf(document: LogDocument, id: string): { readonly messageId: string; readonly receiver: string } {
  const { receiver } = document;
  return { messageId: id, receiver: typeof receiver === 'string' ? receiver : '' };
}
