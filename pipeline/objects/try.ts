/** Streams and rules tried before, or without, being used: on one message, and on what is stored. */
import type { LogDocument } from '../../schemas/messages.js';
import { compileRules } from '../../rules/compile.js';
import type { RuleSet, RuleSource } from '../../rules/contract.js';
import { explain, type ExplainedRule, type ExplainedStream, type Explanation, type Verdict } from '../../rules/explain.js';
import { invalid } from './check.js';
import type { Settings } from './kept.js';
import { uploadedDocument } from './uploaded.js';

const triedId = 'tried';
const triedFile = 'api/tried.yaml';

/** What one message met. */
export interface Tried {
  readonly document: LogDocument;
  readonly explanation: Explanation;
  readonly stream: (id: string) => ExplainedStream | undefined;
  readonly rule: (id: string) => ExplainedRule | undefined;
}

/** Bytes as a sender sends them, or a stored document. Throws the decoder's error. */
export function tryMessage(rules: RuleSet, message: Buffer, receiver: string): Tried {
  const document = uploadedDocument(message, receiver);
  const receivedBy = typeof document['receiver'] === 'string' ? document['receiver'] : receiver;
  const explanation = explain(rules, document, { messageId: 'test', receiver: receivedBy }, { measured: false });
  return {
    document, explanation,
    stream: (id) => explanation.streams.find((stream) => stream.id === id),
    rule: (id) => explanation.rules.find((rule) => rule.id === id),
  };
}

/** Each rule of a stream with its own verdict, in their order. */
export function verdictsOfRules(condition: Verdict | undefined, rules: number): readonly boolean[] {
  if (condition === undefined || condition.children.length !== rules) return Array.from({ length: rules }, () => condition?.held ?? false);
  return condition.children.map(({ held }) => held);
}

/** Whether a stored document fulfils a condition that stands nowhere yet. Throws OBJECT_INVALID. */
export type Matcher = (document: LogDocument, id: string) => boolean;

/** By `when`, or by `rules` and `matching_type`, as a stream has them. */
export function streamMatcher(condition: Settings): Matcher {
  const rules = compiled({ streams: [{ ...condition, id: triedId, index_set: undefined }] });
  return (document, id) => rules.apply({ ...document }, contextOf(document, id)).streams.includes(triedId);
}

function compiled(file: object): RuleSet {
  const source: RuleSource = { files: [{ name: triedFile, text: JSON.stringify(file) }] };
  const result = compileRules(source);
  if ('ruleSet' in result) return result.ruleSet;
  throw invalid(result.problems.map(({ path, message, allowed }) => ({ field: path.replace(/^streams\[0\]\.?/, ''), message: allowed === undefined ? message : `${message} Allowed: ${allowed}.` })));
}

function contextOf(document: LogDocument, id: string): { readonly messageId: string; readonly receiver: string } {
  const { receiver } = document;
  return { messageId: id, receiver: typeof receiver === 'string' ? receiver : '' };
}
