/** Messages per second through 10, 100 and 1000 rules, and against the plain interpreter. */
import { fileURLToPath } from 'node:url';
import { compileRules } from '../rules/compile/compile.js';
import type { RuleSet, RuleSource } from '../rules/contract.js';
import { interpret } from '../rules/engine/interpret.js';
import { programOf } from '../rules/engine/program.js';
import { readRuleSource } from '../rules/loading/source.js';
import type { LogDocument } from '../schemas/messages.js';

interface Rate {
  readonly name: string;
  readonly messagesPerSecond: number;
  readonly microseconds: number;
}

/** The shares of the target: 70 equality, 15 contains, 10 regex with a literal in them, 5 numeric of a hundred. */
function benchSource(count: number): RuleSource {
  const rules = Array.from({ length: count }, (_, place) => ({
    id: `rule-${place}`,
    when: whenOf(place),
    then: [{ route: { stream: `team-${place % 10}` } }],
  }));
  const streams = Array.from({ length: 10 }, (_, place) => ({ id: `team-${place}` }));
  return { files: [{ name: 'bench.yaml', text: JSON.stringify({ rules, streams }) }] };
}

const equalityFields = ['namespace', 'container', 'labels-app', 'level', 'tag', 'kind', 'source'];

function whenOf(place: number): Record<string, unknown> {
  const part = place % 20;
  if (part < 14) {
    const field = equalityFields[place % equalityFields.length] as string;
    return { field, equals: field === 'level' ? (place % 40 === 3 ? 3 : 100 + place) : `${field}-${place}` };
  }
  if (part < 17)
    return { field: 'message', contains: `${words[place % words.length] as string} failed with code ${place}` };
  if (part < 19)
    return {
      field: 'message',
      regex: `${words[place % words.length] as string} (?:rejected|denied) for [a-z]+ ${place}`,
    };
  return { field: 'took_ms', greater: 5_000 + place };
}

const words = [
  'payment',
  'order',
  'session',
  'customer',
  'delivery',
  'invoice',
  'basket',
  'warehouse',
  'voucher',
  'refund',
  'shipment',
];

/** As they come from the wire: parsed, so that texts are flat. */
function benchDocuments(): LogDocument[] {
  return JSON.parse(JSON.stringify(documentShapes())) as LogDocument[];
}

function documentShapes(): LogDocument[] {
  return Array.from({ length: 512 }, (_, place) => ({
    source: `logging-fluentbit-${place % 7}`,
    message: messageOf(place),
    timestamp: '2026-01-02T03:04:05.678Z',
    level: place % 50 === 0 ? 3 : 6,
    namespace: place % 16 === 0 ? `namespace-${(place % 10) * 7}` : 'shop',
    pod: `pay-5d-x${place}`,
    container: 'pay',
    nodename: 'node-7',
    'labels-app': 'pay',
    request_id: `r-${place * 7919}`,
    took_ms: place % 100,
    source_level: 'INFO',
    tag: 'kube.var.log.containers.pay',
    receive_time: '2026-01-02T03:04:05.700Z',
    receiver: 'gelf-tcp',
    peer_address: '10.1.2.3:41000',
  }));
}

function messageOf(place: number): string {
  const text = `[tenant=${place % 13}] ${words[place % words.length] as string} ${place * 31} accepted for client ${place * 17} by worker ${place % 8} after ${place % 100} ms`;
  return place % 32 === 0
    ? `${text}; ${words[place % words.length] as string} rejected for reason ${place % 100}`
    : text;
}

/** The median of five runs, by the processor time of this process: other work on the machine does not count. */
function measure(name: string, milliseconds: number, once: () => number): Rate {
  once();
  const rates: number[] = [];
  for (let run = 0; run < 5; run += 1) {
    const start = process.cpuUsage();
    let messages = 0;
    let elapsed = 0;
    while (elapsed < milliseconds) {
      messages += once();
      const { user, system } = process.cpuUsage(start);
      elapsed = (user + system) / 1000;
    }
    rates.push((messages / elapsed) * 1000);
  }
  const median = rates.sort((left, right) => left - right)[2] as number;
  return { name, messagesPerSecond: Math.round(median), microseconds: 1e6 / median };
}

function build(source: RuleSource): RuleSet {
  const compiled = compileRules(source);
  if ('problems' in compiled) throw new Error(JSON.stringify(compiled.problems));
  return compiled.ruleSet;
}

const context = { messageId: '0190-0-00000001', receiver: 'gelf-tcp' };

function measureEngine(name: string, ruleSet: RuleSet, documents: readonly LogDocument[], milliseconds: number): Rate {
  return measure(name, milliseconds, () => {
    for (const document of documents) ruleSet.apply(document, context);
    return documents.length;
  });
}

function measurePlain(name: string, ruleSet: RuleSet, documents: readonly LogDocument[], milliseconds: number): Rate {
  const program = programOf(ruleSet);
  return measure(name, milliseconds, () => {
    for (const document of documents) interpret(program, document, context);
    return documents.length;
  });
}

/** These rules change documents, so each message is parsed anew; the time of parsing is taken off. */
function measureShipped(shipped: RuleSet, milliseconds: number): Rate {
  const text = JSON.stringify(documentShapes());
  const parse = measure('parsing', milliseconds, () => (JSON.parse(text) as LogDocument[]).length);
  const both = measure('rules that ship', milliseconds, () => {
    const documents = JSON.parse(text) as LogDocument[];
    for (const document of documents) shipped.apply(document, context);
    return documents.length;
  });
  const microseconds = both.microseconds - parse.microseconds;
  return { name: 'rules that ship', microseconds, messagesPerSecond: Math.round(1e6 / microseconds) };
}

async function benchRules(milliseconds = 200): Promise<readonly Rate[]> {
  const rates: Rate[] = [];
  for (const count of [10, 100, 1000]) {
    const ruleSet = build(benchSource(count));
    const indexed = measureEngine(`rules ${count}`, ruleSet, benchDocuments(), milliseconds);
    const plain = measurePlain(`rules ${count}, no index`, ruleSet, benchDocuments(), milliseconds / 2);
    rates.push(indexed, plain);
    console.log(
      `${line(indexed)}   ${(indexed.messagesPerSecond / plain.messagesPerSecond).toFixed(1)} x without index (${plain.messagesPerSecond.toLocaleString('en')}/s)`,
    );
  }
  const shipped = build(await readRuleSource('', { defaults: true }));
  const fresh = measureShipped(shipped, milliseconds);
  console.log(line(fresh));
  return [...rates, fresh];
}

const line = (rate: Rate): string =>
  `${rate.name.padEnd(32)} ${rate.messagesPerSecond.toLocaleString('en').padStart(12)} messages/s ${rate.microseconds.toFixed(2).padStart(8)} us`;

if (process.argv[1] === fileURLToPath(import.meta.url)) await benchRules();
