/**
 * CPU of each step between a consumed record and the JSON text of its document: `node build/bench/route.js [rounds]`.
 * It is processor time of the process, garbage collection included, so other load on the machine changes it little.
 */
import { fileURLToPath } from 'node:url';
import { createGenerator } from '../load/generator.js';
import { createDecoder } from '../gelf/decoder.js';
import type { ParsedMessage } from '../gelf/contract.js';
import { compileRules } from '../rules/compile/compile.js';
import { readRuleSource } from '../rules/loading/source.js';
import type { LogDocument } from '../schemas/messages.js';
import { createMappingCoercion } from '../sinks/index-sets/mapping-coercion.js';
import { benchMessage } from './send.js';

interface StepCosts {
  readonly kind: string;
  /** Microseconds per message. */
  readonly parse: number;
  readonly toDocument: number;
  readonly rules: number;
  readonly coerce: number;
}

const messagesPerRound = 2000;
/** Rounds before the functions are compiled. */
const warmUp = 10;
const receivedAt = 1_795_267_403_177;

function plainMessage(index: number): Buffer {
  return Buffer.from(
    `{"version":"1.1","host":"node-7","short_message":"payment accepted for order ${String(index).padStart(9, '0')}","timestamp":1767323045.678,"level":6}`,
  );
}

function mixedMessages(): Buffer[] {
  const generator = createGenerator({ seed: 7, run: '0000abcd', bytes: 420 });
  const target = Buffer.alloc(generator.largestBytes);
  return Array.from({ length: messagesPerRound }, (_, index) =>
    Buffer.from(target.subarray(0, generator.write(target, 0, { connection: index % 8, sent: index }, receivedAt))),
  );
}

const kinds: Readonly<Record<string, () => Buffer[]>> = {
  plain: () => Array.from({ length: messagesPerRound }, (_, index) => plainMessage(index)),
  pod: () => Array.from({ length: messagesPerRound }, (_, index) => Buffer.from(benchMessage(index))),
  mix: mixedMessages,
};

const processorTime = (): number => {
  const { user, system } = process.cpuUsage();
  return user + system;
};

export async function benchRoute(kind: string, rounds: number): Promise<StepCosts> {
  const messages = (kinds[kind] as () => Buffer[])();
  const decoder = createDecoder();
  const compiled = compileRules(await readRuleSource('/nonexistent'));
  if ('problems' in compiled) throw new Error('the shipped rules cannot be compiled');
  const { ruleSet } = compiled;
  const coercion = createMappingCoercion({ maxFields: 900 });
  const spent = [0, 0, 0, 0];
  const timed = <Result>(round: number, step: number, run: () => Result): Result => {
    const before = processorTime();
    const result = run();
    if (round >= warmUp) spent[step] = (spent[step] as number) + processorTime() - before;
    return result;
  };
  const context = { messageId: 'x', receiver: 'gelf-tcp' };
  const decodeContext = { receiver: 'gelf-tcp', peer: '127.0.0.1:55', receivedAt, timestamp: 'sender' } as const;
  for (let round = 0; round < rounds + warmUp; round += 1) {
    const parsed = timed(round, 0, () => messages.map((message) => decoder.parse(message) as ParsedMessage));
    const documents = timed(round, 1, () => parsed.map((message) => decoder.toDocument(message, decodeContext)));
    timed(round, 2, () =>
      documents.forEach((document: LogDocument) => {
        const { streams } = ruleSet.apply(document, context);
        document['rule_set_version'] = ruleSet.version;
        document['streams'] = streams;
      }),
    );
    timed(round, 3, () => documents.map((document) => coercion.coerce('index', document)));
  }
  const [parse = 0, toDocument = 0, rules = 0, coerce = 0] = spent.map(
    (microseconds) => microseconds / (rounds * messagesPerRound),
  );
  return { kind, parse, toDocument, rules, coerce };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const rounds = Number(process.argv[2] ?? 60);
  process.stdout.write(`us of CPU a message${''.padEnd(9)}parse  toDocument  rules    fit    sum\n`);
  for (const kind of Object.keys(kinds)) {
    const { parse, toDocument, rules, coerce } = await benchRoute(kind, rounds);
    const columns = [
      [parse, 9],
      [toDocument, 12],
      [rules, 7],
      [coerce, 7],
      [parse + toDocument + rules + coerce, 7],
    ] as const;
    process.stdout.write(
      `${kind.padEnd(24)}${columns.map(([value, width]) => value.toFixed(2).padStart(width)).join('')}\n`,
    );
  }
}
