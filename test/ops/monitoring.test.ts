/** Dashboards and alerts against a real Prometheus that reads a running program. */
import { spawn, spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect, createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { parse, stringify } from 'yaml';
import { packageRoot } from '../../core/process/package-root.js';
import { dashboards } from '../../ops/monitoring/dashboards.js';
import { dashboardJson } from '../../ops/monitoring/panels.js';
import { workerMetrics } from '../../program/workers/metrics.js';
import { startProgram, testFolder, until, workedOff, type Program } from '../program.js';

const folder = join(packageRoot, 'ops/monitoring');
const hasPrometheus = spawnSync('prometheus', ['--version'], { stdio: 'ignore' }).status === 0;
const skip = hasPrometheus ? {} : { skip: 'prometheus is not installed' };

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
}
const alerts = (
  parse(readFileSync(join(folder, 'alerts.yaml'), 'utf8')) as { groups: readonly { rules: readonly Rule[] }[] }
).groups.flatMap((group) => group.rules);

/** Only a fault moves these; the unit tests of the alerts give them values. */
const movedByFaults = new Set([
  'sluice_topic_records_lost_total',
  'sluice_records_missing_total',
  'sluice_runs_evicted_total',
  'sluice_datagrams_dropped_total',
  'sluice_messages_shed_total',
  'sluice_topic_appends_refused_total',
  'sluice_store_retries_total',
  'sluice_store_write_errors_total',
  'sluice_topic_retention_held_bytes',
  'sluice_refusals_shed_total',
  'sluice_rule_failures_total',
  'sluice_documents_dead_lettered_total',
  'sluice_documents_parked_total',
  'sluice_documents_repaired_total',
  'sluice_connections_paused',
  'sluice_topic_records_resent_total',
  'sluice_index_retirements_total',
  'sluice_parking_messages',
  'sluice_parking_oldest_age_seconds',
  'sluice_parking_index_missing_total',
  'sluice_dead_letters_dropped_total',
  'sluice_dead_letter_replays_total',
  'sluice_worker_restarts_total',
  'sluice_output_messages_failed_total',
  'sluice_output_messages_dropped_total',
  'sluice_output_connections_failed_total',
  'sluice_output_messages_waiting',
  'sluice_output_oldest_seconds',
  'sluice_messages_waiting_bytes',
  'sluice_oldest_unprocessed_seconds',
  'sluice_topic_lag_records',
]);

/** Only a program with several workers has these. */
const ofWorkers: ReadonlySet<string> = new Set(Object.values(workerMetrics).map(({ name }) => name));

t.test('the dashboards in JSON are those declared in the code', (t) => {
  for (const [file, dashboard] of Object.entries(dashboards)) {
    const text = `${JSON.stringify(dashboardJson(dashboard), null, 1)}\n`;
    if (process.env['SLUICE_TEST_UPDATE'] === '1') writeFileSync(join(folder, file), text);
    t.equal(readFileSync(join(folder, file), 'utf8'), text, file);
  }
  t.end();
});

t.test('each alert fires on the series it is for, and none on a healthy run', skip, (t) => {
  const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', join(folder, 'alerts-test.yaml')], {
    encoding: 'utf8',
  });
  t.equal(status, 0, stdout + stderr);
  const tested = readFileSync(join(folder, 'alerts-test.yaml'), 'utf8');
  for (const { alert } of alerts) t.match(tested, `name: ${alert}\n`, `${alert} has a test`);
  t.end();
});

t.test('every expression of dashboards and alerts names metrics that exist and move', skip, async (t) => {
  const home = testFolder(t);
  mkdirSync(join(home, 'sluice.d'));
  const destination = createServer((socket) => void socket.resume());
  await new Promise<void>((resolve) => destination.listen(0, '127.0.0.1', () => resolve()));
  t.teardown(() => void destination.close());
  writeFileSync(
    join(home, 'sluice.d', 'outputs.yaml'),
    stringify({
      outputs: [
        {
          id: 'siem',
          type: 'gelf',
          protocol: 'tcp',
          host: '127.0.0.1',
          port: (destination.address() as AddressInfo).port,
          streams: ['all-messages'],
        },
      ],
    }),
  );
  const program = await startProgram(t, { folder: home });
  const { admin_port: admin } = await program.status();
  const query = await startPrometheus(t, admin);
  await until(
    async () => ((await query('sluice_epoch')).length > 0 ? true : undefined),
    20_000,
    () => 'Prometheus does not reach the program',
  );
  const before = await scrape(admin);
  await ordinaryDay(program, query);
  const after = await scrape(admin);
  await until(
    async () => ((await query('sum(sluice_documents_stored_total) > 250')).length > 0 ? true : undefined),
    20_000,
    () => 'Prometheus has not read the last values',
  );

  const panels = Object.values(dashboards).flatMap(({ rows }) => rows.flatMap((row) => row.panels));
  const expressions = [
    ...panels.flatMap((panel) => panel.queries.map(({ expr }) => expr)),
    ...alerts.map(({ expr }) => expr),
  ];
  for (const expression of expressions) {
    const concrete = expression.replaceAll('$__rate_interval', '1m').replaceAll('$instance', '.+');
    const found = await query(concrete);
    for (const metric of metricsOf(concrete)) {
      t.ok(after.declared.has(metric.replace(/_bucket$/, '')) || ofWorkers.has(metric), `${metric} exists`);
      if (!movedByFaults.has(metric) && metric !== 'up')
        t.not(after.sum(metric), before.sum(metric), `${metric} moves`);
    }
    const isAlert = alerts.some(({ expr }) => expr === expression);
    if (!isAlert && metricsOf(concrete).every((metric) => !movedByFaults.has(metric)))
      t.ok(found.length > 0, `a panel shows something: ${concrete}`);
  }
  for (const { queries } of panels) {
    for (const { expr, legend } of queries) {
      for (const [, label] of legend.matchAll(/\{\{(\w+)\}\}/g))
        t.match(`${expr} instance`, new RegExp(`\\b${label}\\b`), `the legend's label ${label} is kept by ${expr}`);
    }
  }
});

const metricsOf = (expression: string): string[] => [
  ...new Set(expression.match(/\b(?:sluice|process|nodejs)_[a-z0-9_]+\b(?=[{[\s)]|$)/g) ?? []),
];

interface Scrape {
  readonly declared: ReadonlySet<string>;
  sum(metric: string): number;
}

async function scrape(port: number): Promise<Scrape> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  const samples = [...text.matchAll(/^(\w+)(?:\{[^}]*\})? (\S+)$/gm)];
  return {
    declared: new Set([...text.matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name as string)),
    sum: (metric) => samples.filter(([, name]) => name === metric).reduce((sum, [, , value]) => sum + Number(value), 0),
  };
}

/**
 * What moves the metrics of a program in good health: all receivers, good and bad messages, a rotation, changed rules,
 * a search.
 */
async function ordinaryDay(program: Program, query: Query): Promise<void> {
  const tcp = connect(program.port('gelf-tcp'), '127.0.0.1');
  for (let number = 0; number < 300; number += 1)
    tcp.write(`{"host":"h","short_message":"message ${number}","_pod":"p","_namespace":"n","_container":"c"}\0`);
  tcp.write('not json\0<34>Oct 11 22:14:15 host su: syslog here\0');
  const udp = createSocket('udp4');
  await new Promise((resolve) =>
    udp.send('{"host":"h","short_message":"by udp"}', program.port('gelf-udp'), '127.0.0.1', resolve),
  );
  udp.close();
  await fetch(`http://127.0.0.1:${program.port('gelf-http')}/gelf`, {
    method: 'POST',
    body: '{"host":"h","short_message":"by http"}',
  });
  writeFileSync(
    join(program.folder, 'sluice.d', 'more.yaml'),
    'rules: [{id: drop-noise, when: {field: message, contains: noise}, then: [{drop: true}]}]\n',
  );
  await until(
    async () => (((await program.status()).epoch.number ?? 0) > 0 ? true : undefined),
    20_000,
    () => program.output(),
  );
  tcp.write('{"host":"h","short_message":"noise"}\0');
  writeFileSync(join(program.folder, 'sluice.d', 'more.yaml'), 'rules: [{id: drop-noise, when: 7}]\n');
  await until(
    () => (program.output().includes('cannot be used') ? true : undefined),
    20_000,
    () => program.output(),
  );
  await workedOff(program);
  // A rate needs two values of a series, and sizes are measured from time to time.
  const { admin_port: admin } = await program.status();
  for (let round = 0; round < 2; round += 1) {
    await program.control.request('POST', '/rotate', { index_set: 'sluice_default' });
    await program.control.request('POST', '/search', { query: 'message' });
    await until(
      async () =>
        (
          await query(
            `sum(sluice_index_rotations_total) > ${round} and sum(sluice_store_search_seconds_count) > ${round}`,
          )
        ).length > 0
          ? true
          : undefined,
      20_000,
      () => 'a round was not read',
    );
  }
  const { sum: sizes } = await scrape(admin);
  await until(
    async () => {
      tcp.write('{"host":"h","short_message":"again"}\0');
      const now = await scrape(admin);
      return now.sum('sluice_index_set_bytes') !== sizes('sluice_index_set_bytes') &&
        now.sum('sluice_index_set_documents') > 0
        ? true
        : undefined;
    },
    20_000,
    () => 'sizes were not measured',
  );
  // A second round in the new index: a message is followed until it is searchable every five seconds.
  await until(
    async () => {
      tcp.write('{"host":"h","short_message":"again"}\0');
      return (await scrape(admin)).sum('sluice_searchable_seconds_bucket') > 0 ? true : undefined;
    },
    20_000,
    () => 'no message was followed until it was searchable',
  );
  tcp.end();
  await workedOff(program);
}

type Query = (expression: string) => Promise<readonly unknown[]>;

async function startPrometheus(t: Parameters<typeof testFolder>[0], admin: number): Promise<Query> {
  const home = testFolder(t);
  const port = await freePort();
  const file = join(home, 'prometheus.yml');
  writeFileSync(
    file,
    stringify({
      global: { scrape_interval: '1s', evaluation_interval: '1s' },
      rule_files: [join(folder, 'alerts.yaml')],
      scrape_configs: [{ job_name: 'sluice', static_configs: [{ targets: [`127.0.0.1:${admin}`] }] }],
    }),
  );
  const child = spawn(
    'prometheus',
    [`--config.file=${file}`, `--storage.tsdb.path=${join(home, 'data')}`, `--web.listen-address=127.0.0.1:${port}`],
    { stdio: 'ignore' },
  );
  const ended = new Promise((resolve) => child.once('exit', resolve));
  t.teardown(async () => {
    child.kill('SIGTERM');
    await ended;
  });
  return async (expression) => {
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/query?query=${encodeURIComponent(expression)}`).catch(
      () => undefined,
    );
    if (response === undefined || response.status === 503) return [];
    const answer = (await response.json()) as { status: string; error?: string; data?: { result: readonly unknown[] } };
    if (answer.data === undefined) throw new Error(`${expression}: ${answer.error}`);
    return answer.data.result;
  };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
