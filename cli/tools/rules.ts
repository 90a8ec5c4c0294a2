/** `sluice rules check | test | explain`: the loop of writing rules without a running program. */
import { readFile } from 'node:fs/promises';
import { errorText, isSluiceError } from '../../core/errors.js';
import { uploadedDocument } from '../../gelf/uploaded.js';
import { compileRules } from '../../rules/compile/compile.js';
import type { RuleContext, RuleSet } from '../../rules/contract.js';
import { explain } from '../../rules/engine/explain.js';
import { formatProblem } from '../../rules/problems.js';
import { programOf } from '../../rules/engine/program.js';
import { readRuleSource } from '../../rules/loading/source.js';
import type { LogDocument } from '../../schemas/messages.js';
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
  const counts = {
    version,
    files: source.files.length,
    rules: rules.length,
    streams: streams.length,
    index_sets: indexSets.length,
  };
  if (options.json === true)
    return { text: JSON.stringify({ valid: true, ...counts, problems: [] }, null, 2), exitCode: 0 };
  return {
    text: `The rule files are valid: ${counts.files} files, ${counts.rules} rules, ${counts.streams} streams, ${counts.index_sets} index sets; version ${version}.`,
    exitCode: 0,
  };
}

/** What becomes of a message. */
export async function rulesTest(options: RulesMessageOptions): Promise<RulesResult> {
  return withMessage(options, (ruleSet, document, context) => {
    const explanation = explain(ruleSet, document, context);
    const { version, routing, after, changes, microseconds } = explanation;
    return options.json === true
      ? JSON.stringify({ version, routing, document: after, changes, microseconds }, null, 2)
      : testText(explanation, createPaint(options.color));
  });
}

/** Why: every condition with its verdict. */
export async function rulesExplain(options: RulesMessageOptions): Promise<RulesResult> {
  return withMessage(options, (ruleSet, document, context) => {
    const explanation = explain(ruleSet, document, context);
    return options.json === true
      ? JSON.stringify(explanation, null, 2)
      : explainText(explanation, createPaint(options.color));
  });
}

async function withMessage(
  options: RulesMessageOptions,
  tell: (ruleSet: RuleSet, document: LogDocument, context: RuleContext) => string,
): Promise<RulesResult> {
  const loaded = await load(options);
  if ('exitCode' in loaded) return loaded;
  const receiver = options.receiver ?? 'gelf-tcp';
  try {
    const document = uploadedDocument(await readMessage(options), receiver);
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
    return {
      text: [
        ...problems.map(formatProblem),
        `${problems.length} ${problems.length === 1 ? 'problem' : 'problems'}; nothing would be loaded.`,
      ].join('\n'),
      exitCode: 2,
    };
  } catch (error) {
    if (!isSluiceError(error)) throw error;
    return failure(errorText(error), options);
  }
}

const failure = (message: string, { json }: RulesOptions): RulesResult => ({
  text: json === true ? JSON.stringify({ error: message }) : message,
  exitCode: 2,
});

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
