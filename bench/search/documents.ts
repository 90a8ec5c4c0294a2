/**
 * Log messages as the forwarders of a cluster send them. Words come as often as words do (Zipf: the n-th word n times
 * rarer than the first), pods and request ids are many, some fields are on some messages only. The seed and the number
 * of a message decide all of it but its time.
 */
import { createRandom, hash, pick, type Random } from '../../load/random.js';

type Sample = Readonly<Record<string, string | number>>;

const vocabularySize = 20_000;
/** One draw is one look into a table of this many places: a word's share of them is its share of the text. */
const drawPlaces = 2 ** 17;
/** The frequent ones; the others are made of syllables. */
const frequentWords = (
  'the to of request for in user order from with payment service error timeout connection cache handler session failed retry completed query database upstream response accepted started ' +
  'finished client refused queue message processing loaded token expired update record created deleted batch worker thread pool shutdown replica index shard segment commit rollback transaction lock ' +
  'deadlock leader election heartbeat partition offset consumer producer broker schema migration config reload certificate handshake proxy gateway route limit exceeded quota denied permission login logout'
).split(' ');
const syllables =
  'ba be bi bo da de di do fa fe fo ga ge go ka ke ki ko la le li lo ma me mi mo na ne ni no pa pe pi po ra re ri ro sa se si so ta te ti to va ve vi vo za ze zo xan tor mil ken'.split(
    ' ',
  );

function vocabulary(): string[] {
  const words = new Set(frequentWords);
  for (let number = 0; words.size < vocabularySize; number += 1) {
    const random = createRandom(number + 1);
    words.add(Array.from({ length: 2 + (random() % 3) }, () => pick(random, syllables)).join(''));
  }
  return [...words];
}

export const words: readonly string[] = vocabulary();

function createDraws(): Uint16Array {
  const draws = new Uint16Array(drawPlaces);
  const total = words.reduce((sum, _, rank) => sum + 1 / (rank + 1), 0);
  let filled = 0;
  let share = 0;
  for (let rank = 0; rank < words.length; rank += 1) {
    share += 1 / (rank + 1);
    const end = Math.round((share / total) * drawPlaces);
    draws.fill(rank, filled, end);
    filled = end;
  }
  return draws;
}

const draws = createDraws();
export const drawWord = (random: Random): string => words[draws[random() % drawPlaces] as number] as string;
const text = (random: Random, least: number, more: number): string =>
  Array.from({ length: least + (random() % more) }, () => drawWord(random)).join(' ');
const hex = (random: Random): string => random().toString(16).padStart(8, '0');

export const namespaces = [
  'shop',
  'billing',
  'search',
  'monitoring',
  'kube-system',
  'tracing',
  'orders',
  'identity',
  'reports',
  'mail',
  'stock',
  'gateway',
] as const;
export const apps = Array.from(
  { length: 40 },
  (_, at) =>
    `${pick(createRandom(at + 77), syllables)}${pick(createRandom(at + 177), syllables)}-${['api', 'worker', 'web', 'job'][at % 4]}`,
);
const levels = [
  [6, 'info'],
  [6, 'info'],
  [6, 'info'],
  [6, 'info'],
  [7, 'debug'],
  [7, 'debug'],
  [4, 'warn'],
  [3, 'error'],
] as const;

/** Ten pods of each app. */
function pod(random: Random): {
  readonly _namespace: string;
  readonly _pod: string;
  readonly _container: string;
  readonly _labels_app: string;
  readonly _nodename: string;
} {
  const at = random() % apps.length;
  const app = apps[at] as string;
  const replica = random() % 10;
  return {
    _namespace: namespaces[at % namespaces.length] as string,
    _pod: `${app}-${(hash(at, 1) & 0xffffff).toString(16)}-${(hash(at, replica) & 0xfffff).toString(36)}`,
    _container: app,
    _labels_app: app,
    _nodename: `node-${(at + replica) % 12}`,
  };
}

function podLog(random: Random): Sample {
  const [level, word] = pick(random, levels);
  const chance = random() % 100;
  return {
    short_message: `${text(random, 5, 14)} id=${hex(random)} took ${random() % 5_000} ms`,
    host: `logging-fluentbit-${random() % 12}`,
    level,
    ...pod(random),
    _detected_level: word,
    _parse_status: 'success',
    _request_id: `${hex(random)}${hex(random)}`,
    ...(chance < 40 ? { _took_ms: Math.round(Math.exp((random() % 8_500) / 1_000)) } : {}),
    ...(chance < 12 ? { _trace_id: `${hex(random)}${hex(random)}${hex(random)}${hex(random)}` } : {}),
    ...(chance === 50 ? { [`_rare_${random() % 40}`]: drawWord(random) } : {}),
  };
}

function stackTrace(random: Random): Sample {
  const frames = Array.from(
    { length: 5 + (random() % 12) },
    () => `\tat org.example.${drawWord(random)}.${drawWord(random)}.run(Handler.java:${random() % 900})`,
  );
  return {
    short_message: `java.lang.IllegalStateException: ${text(random, 4, 8)}`,
    full_message: `java.lang.IllegalStateException\n${frames.join('\n')}`,
    host: `logging-fluentbit-${random() % 12}`,
    level: 3,
    ...pod(random),
    _detected_level: 'error',
  };
}

function ingress(random: Random): Sample {
  const status = pick(random, [200, 200, 200, 200, 201, 304, 404, 502]);
  const path = `/api/${drawWord(random)}/${random() % 100_000}`;
  return {
    short_message: `192.0.2.${random() % 255} - GET ${path} ${status} ${random() % 50_000}`,
    host: 'logging-fluentbit-3',
    level: 6,
    _namespace: 'ingress',
    _pod: `ingress-nginx-controller-${random() % 3}`,
    _container: 'controller',
    _method: 'GET',
    _path: path,
    _status: status,
    _took_ms: random() % 2_000,
    _upstream: `10.0.${random() % 4}.${random() % 255}:8080`,
  };
}

function audit(random: Random): Sample {
  return {
    short_message: `type=USER_LOGIN msg=audit(${hex(random)}): pid=${random() % 30_000} uid=${random() % 50} res=${random() % 9 === 0 ? 'failed' : 'success'}`,
    host: 'logging-fluentbit-1',
    level: 6,
    _tag: '/var/log/audit/audit.log',
    _nc_audit_label: 'true',
    _nodename: `node-${random() % 12}`,
  };
}

function system(random: Random): Sample {
  return {
    short_message: `systemd[1]: ${text(random, 3, 6)} ${random() % 9_999}`,
    host: `node-${random() % 12}`,
    level: 6,
    _tag: '/var/log/messages',
    _nodename: `node-${random() % 12}`,
  };
}

const kinds: readonly (readonly [upTo: number, build: (random: Random) => Sample])[] = [
  [76, podLog],
  [81, stackTrace],
  [91, ingress],
  [95, audit],
  [100, system],
];

/** The message with this number, as GELF. */
export function gelfMessage(seed: number, number: number, timeMs: number): Buffer {
  const random = createRandom(hash(seed, number));
  const chance = random() % 100;
  const build = (kinds.find(([upTo]) => chance < upTo) ?? kinds[0])?.[1] ?? podLog;
  return Buffer.from(JSON.stringify({ version: '1.1', ...build(random), timestamp: timeMs / 1000 }));
}
