/**
 * The real program, filled, with users of its own; on OpenSearch with engines of its own too, since shared ones hold
 * what others wrote.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLog } from '../../core/log.js';
import { Registry } from '../../core/metrics.js';
import type { Epoch } from '../../pipeline/delivery/records.js';
import type { Config } from '../../schemas/config/config.js';
import { createStore } from '../../sinks/stores/registry.js';
import type { Scope } from '../../test/endurance/scope.js';
import { startEngines, type Engines } from '../../test/engines.js';
import { wordsKnown } from '../../test/sinks/stores/duckdb/support/words.js';
import { startProgram, workedOff, type Program } from '../../test/program.js';
import { benchConfig } from '../processing.js';
import { createApi, type Api } from './api.js';
import { cpuSeconds } from './figures.js';
import { fillStore } from './fill.js';

export type StoreKind = 'embedded' | 'opensearch';

interface WorldOptions {
  readonly kind: StoreKind;
  readonly messages: number;
  readonly spanMs: number;
  /** Retained, and filled further in the next run; undefined: a new one that goes with the run. */
  readonly folder: string | undefined;
  readonly say: (line: string) => void;
  /** Ends a fill early. */
  readonly signal: AbortSignal;
}

export interface World {
  readonly program: Program;
  readonly api: Api;
  readonly engines: Engines | undefined;
  readonly folder: string;
  /** Seconds of the program and its store's engine together. */
  cpuSeconds(): number;
}

/** Users that ship: one that sees all, one that sees all but one stream. */
const people = {
  Admin: 'admin-bench-password',
  Operator: 'operator-bench-password',
  AuditViewer: 'viewer-bench-password',
} as const;
const receivers = [{ type: 'gelf_tcp', host: '127.0.0.1', port: 0 }];

export async function createWorld(scope: Scope, options: WorldOptions): Promise<World> {
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), 'sluice-bench-'));
  if (options.folder === undefined) scope.teardown(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(folder, { recursive: true });
  const engines = options.kind === 'opensearch' ? await startEngines({ home: join(folder, 'engines') }) : undefined;
  if (engines !== undefined) scope.teardown(() => engines.stop());
  const settings = settingsOf(engines);
  const first = await startProgram(scope, { folder, settings });
  const { epoch, index_sets: sets } = await first.status();
  await workedOff(first);
  await first.end();
  const stored = sets.flatMap(({ indices }) => indices).reduce((sum, { documents }) => sum + documents, 0);
  await fill(options, { folder, settings, epoch: epoch as unknown as Epoch, stored });
  const program = await startProgram(scope, { folder, settings });
  const port = Number(/API +http:\/\/127\.0\.0\.1:(\d+)/.exec(program.output())?.[1]);
  const { pid } = await program.status();
  const pids =
    engines === undefined ? [pid] : [pid, Number(readFileSync(join(folder, 'engines', 'opensearch.pid'), 'utf8'))];
  return {
    program,
    engines,
    folder,
    api: await createApi(port, people),
    cpuSeconds: () => pids.reduce((sum, one) => sum + cpuSeconds(one), 0),
  };
}

function settingsOf(engines: Engines | undefined): Readonly<Record<string, unknown>> {
  const common = {
    log_level: 'warn',
    receivers,
    access: { first_passwords: { admin: people.Admin, operator: people.Operator, audit_viewer: people.AuditViewer } },
  };
  if (engines === undefined) return common;
  return {
    ...common,
    topics: { kind: 'kafka', kafka: { brokers: engines.kafka } },
    store: { kind: 'opensearch', opensearch: { nodes: [engines.opensearch] } },
  };
}

/** Documents of the last, unfinished segments of the indices. */
const wordsLeft = 100_000;
const mostWordsMs = 600_000;

interface Filling {
  readonly folder: string;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly epoch: Epoch;
  readonly stored: number;
}

/** The plan is kept beside the data, so that the next run goes on with it. */
async function fill(
  { messages, spanMs, say, signal }: WorldOptions,
  { folder, settings, epoch, stored }: Filling,
): Promise<void> {
  const file = join(folder, 'fill.json');
  const plan = existsSync(file)
    ? (JSON.parse(readFileSync(file, 'utf8')) as { messages: number; spanMs: number; endMs: number; done: number })
    : { messages, spanMs, endMs: Date.now(), done: 0 };
  if (plan.done >= plan.messages)
    return say(`  filled before: ${plan.done} messages, newest ${new Date(plan.endMs).toISOString()}`);
  const config: Config = benchConfig({ data_folder: join(folder, 'data'), ...settings });
  const registry = new Registry();
  const store = createStore(config, { registry, log: silentLog });
  await store.start();
  const began = performance.now();
  let wordSeconds = 0;
  const from = Math.max(plan.done, Math.min(stored, plan.messages));
  try {
    const keep = (): void => writeFileSync(file, JSON.stringify(plan));
    plan.done = await fillStore(
      store,
      { ...plan, first: from, epoch },
      (written) => {
        plan.done = written;
        if (written % 100_000 === 0) keep();
      },
      signal,
    );
    keep();
    const filled = performance.now();
    if (config.store.kind === 'embedded') {
      await wordsKnown(registry, wordsLeft, mostWordsMs);
      wordSeconds = (performance.now() - filled) / 1000;
    }
  } finally {
    await store.stop(60_000);
  }
  const seconds = (performance.now() - began) / 1000 - wordSeconds;
  say(
    `  filled ${plan.done - from} messages in ${seconds.toFixed(0)} s, ${Math.round((plan.done - from) / seconds)}/s; they span ${(plan.spanMs / 3_600_000).toFixed(1)} h${wordSeconds > 0 ? `; their words in ${wordSeconds.toFixed(0)} s more` : ''}`,
  );
  if (plan.done < plan.messages)
    throw new Error(`stopped at ${plan.done} of ${plan.messages} messages; the next run with the same folder goes on`);
}
