/** `sluice rules check | test | explain`: the loop of writing rules without a running program. */
import { readFile } from 'node:fs/promises';
import { errorText, isSluiceError } from '../core/errors.js';
import { createDecoder } from '../receivers/decode/decoder.js';
import { compileRules } from '../rules/compile.js';
import type { RuleContext, RuleSet } from '../rules/contract.js';
import { explain } from '../rules/explain.js';
import { formatProblem } from '../rules/problems.js';
import { programOf } from '../rules/program.js';
import { readRuleSource } from '../rules/source.js';
import type { LogDocument } from '../schemas/messages.js';
import { createPaint, explainText, testText } from './rules-output.js';

export interface RulesResult {
  readonly text: string;
  /** 0, or 2 for mistakes in rule files or an unusable message. */
  readonly exitCode: 0 | 2;
}

export interface RulesOptions {
  readonly folder: string;
  readonly json?: boolean | undefined;
  /** Colours; default: a terminal without NO_COLOR. */
  readonly color?: boolean | undefined;
}

export interface RulesMessageOptions extends RulesOptions {
  /** A file with one GELF message or one stored document, `-` for standard input. */
  readonly file: string;
  readonly input?: AsyncIterable<Buffer | string> | undefined;
  /** Receiver that the message is taken to come from. */
  readonly receiver?: string | undefined;
}

export async function rulesCheck(options: RulesOptions): Promise<RulesResult> {
  const loaded = await load(options);
  if ('exitCode' in loaded) return loaded;
  const { version, rules, streams, indexSets, source } = programOf(loaded.ruleSet);
  const counts = { version, files: source.files.length, rules: rules.length, streams: streams.length, index_sets: indexSets.length };
  if (options.json === true) return { text: JSON.stringify({ valid: true, ...counts, problems: [] }, null, 2), exitCode: 0 };
  return { text: `The rule files are valid: ${counts.files} files, ${counts.rules} rules, ${counts.streams} streams, ${counts.index_sets} index sets; version ${version}.`, exitCode: 0 };
}

/** What becomes of a message. */
export async function rulesTest(options: RulesMessageOptions): Promise<RulesResult> {
  return withMessage(options, (ruleSet, document, context) => {
    const explanation = explain(ruleSet, document, context);
    const { version, routing, after, changes, microseconds } = explanation;
    return options.json === true ? JSON.stringify({ version, routing, document: after, changes, microseconds }, null, 2) : testText(explanation, createPaint(options.color));
  });
}

/** Why: every condition with its verdict. */
export async function rulesExplain(options: RulesMessageOptions): Promise<RulesResult> {
  return withMessage(options, (ruleSet, document, context) => {
    const explanation = explain(ruleSet, document, context);
    return options.json === true ? JSON.stringify(explanation, null, 2) : explainText(explanation, createPaint(options.color));
  });
}

async function withMessage(options: RulesMessageOptions, tell: (ruleSet: RuleSet, document: LogDocument, context: RuleContext) => string): Promise<RulesResult> {
  const loaded = await load(options);
  if ('exitCode' in loaded) return loaded;
  const receiver = options.receiver ?? 'gelf-tcp';
  try {
    const document = toDocument(await readMessage(options), receiver);
    const receivedBy = typeof document['receiver'] === 'string' ? document['receiver'] : receiver;
    return { text: tell(loaded.ruleSet, document, { messageId: 'test', receiver: receivedBy }), exitCode: 0 };
  } catch (error) {
    return failure(`${options.file}: ${errorText(error)}`, options);
  }
}

async function load(options: RulesOptions): Promise<{ readonly ruleSet: RuleSet } | RulesResult> {
  try {
    const compiled = compileRules(await readRuleSource(options.folder, { defaults: true }));
    if (!('problems' in compiled)) return compiled;
    const { problems } = compiled;
    if (options.json === true) return { text: JSON.stringify({ valid: false, problems }, null, 2), exitCode: 2 };
    return { text: [...problems.map(formatProblem), `${problems.length} ${problems.length === 1 ? 'problem' : 'problems'}; nothing would be loaded.`].join('\n'), exitCode: 2 };
  } catch (error) {
    if (!isSluiceError(error)) throw error;
    return failure(errorText(error), options);
  }
}

const failure = (message: string, { json }: RulesOptions): RulesResult => ({ text: json === true ? JSON.stringify({ error: message }) : message, exitCode: 2 });

/** A message that a receiver would take is at most this large; see max_inflated_bytes. */
const maxMessageBytes = 8 * 2 ** 20;

async function readMessage({ file, input }: RulesMessageOptions): Promise<Buffer> {
  const bytes = file === '-' ? await readAll(input ?? process.stdin) : await readFile(file);
  if (bytes.length > maxMessageBytes) throw new RangeError(`The message is larger than ${maxMessageBytes} bytes.`);
  return bytes;
}

async function readAll(input: AsyncIterable<Buffer | string>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of input) {
    const bytes = Buffer.from(chunk as string);
    length += bytes.length;
    if (length > maxMessageBytes) break;
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}

/** What only storage sets; rules run before it. */
const setLater = new Set(['_id', '_index', 'streams', 'rule_set_version', 'other_fields']);

function toDocument(bytes: Buffer, receiver: string): LogDocument {
  const stored = storedDocument(bytes);
  if (stored !== undefined) return stored;
  const decoder = createDecoder();
  const parsed = decoder.parse(bytes);
  if ('error' in parsed) throw parsed.error;
  return decoder.toDocument(parsed, { receiver, peer: '127.0.0.1:0', receivedAt: Date.now(), timestamp: 'sender' });
}

/** A stored document has `source` and `message` where GELF has `host` and `short_message`; undefined: GELF. */
function storedDocument(bytes: Buffer): LogDocument | undefined {
  let root: unknown;
  try {
    root = JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
  if (typeof root !== 'object' || root === null || Array.isArray(root)) return undefined;
  const fields = Object.entries(root);
  const names = new Set(fields.map(([name]) => name));
  if (names.has('short_message') || names.has('host') && !names.has('receive_time') || !(names.has('source') || names.has('receive_time'))) return undefined;
  return Object.fromEntries(fields.filter(([name, value]) => !setLater.has(name) && isField(value)) as [string, LogDocument[string]][]);
}

function isField(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' || (Array.isArray(value) && value.every((item) => typeof item === 'string'));
}
