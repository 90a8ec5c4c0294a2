/** The running program: what it is, whether it takes messages, how much waits, what it has warned of, its metrics. */
import { createHash } from 'node:crypto';
import { hostname, platform, release } from 'node:os';
import { Type } from 'typebox';
import { packageVersion } from '../../../../core/process/package-root.js';
import type { ApiServer } from '../../contract.js';
import { deadLetterSet } from '../../../../schemas/index-sets.js';
import { countsAll } from '../../objects/index-counts.js';
import { nothing, nullable } from '../../objects/shapes.js';
import type { ApiServices } from '../../services.js';

const tags = ['System'];
const system = Type.Object({
  facility: Type.String(),
  codename: Type.String(),
  node_id: Type.String(),
  cluster_id: Type.String(),
  version: Type.String(),
  started_at: Type.String(),
  hostname: Type.String(),
  lifecycle: Type.String(),
  lb_status: Type.String(),
  timezone: Type.String(),
  operating_system: Type.String(),
  is_leader: Type.Boolean(),
  is_processing: Type.Boolean(),
});
const nodes = Type.Object({
  total: Type.Integer(),
  nodes: Type.Array(
    Type.Object({
      cluster_id: Type.String(),
      node_id: Type.String(),
      type: Type.String(),
      is_leader: Type.Boolean(),
      is_master: Type.Boolean(),
      transport_address: Type.String(),
      last_seen: Type.String(),
      short_node_id: Type.String(),
      hostname: Type.String(),
    }),
  ),
});
const journal = Type.Object(
  {
    enabled: Type.Boolean(),
    uncommitted_journal_entries: Type.Integer({ description: 'Messages accepted and not yet stored.' }),
    oldest_unprocessed_seconds: Type.Number(),
    received: Type.Integer(),
    appended: Type.Integer(),
    stored: Type.Integer(),
    dead_lettered: Type.Integer(),
    refused: Type.Integer(),
    shed: Type.Integer({ description: 'Dropped of UDP, because the pipeline was full.' }),
    writable: Type.Boolean(),
    reason: Type.String(),
  },
  { description: 'What stands between receivers and the store; counts since this process started.' },
);
const notification = Type.Object({
  type: Type.String(),
  severity: Type.String(),
  timestamp: Type.String(),
  node_id: Type.String(),
  details: Type.Object({
    text: Type.String(),
    count: Type.Optional(Type.Integer({ description: 'How often it was warned of.' })),
    since: Type.Optional(Type.String({ description: 'When it was warned of first; timestamp is the last time.' })),
  }),
});

export function systemRoutes(app: ApiServer, services: ApiServices): void {
  const { config, definitions, health, monitoring, outputs, processing } = services;
  const startedAt = new Date(Date.now() - process.uptime() * 1_000).toISOString();
  const nodeId = createHash('sha256').update(`${hostname()} ${config.data_folder}`).digest('hex').slice(0, 32);
  const clusterId = createHash('sha256')
    .update(`${config.store.kind} ${config.store.opensearch.nodes.join()} ${config.topics.prefix}`)
    .digest('hex')
    .slice(0, 32);
  let override: 'ALIVE' | 'DEAD' | 'THROTTLED' | undefined;

  const lbStatus = async (): Promise<'ALIVE' | 'DEAD' | 'THROTTLED'> =>
    override ?? (health.writable().ok ? ((await health.ready()).ok ? 'ALIVE' : 'DEAD') : 'THROTTLED');
  const facts = async () => {
    const status = await lbStatus();
    return {
      facility: 'sluice',
      codename: 'sluice',
      node_id: nodeId,
      cluster_id: clusterId,
      version: packageVersion,
      started_at: startedAt,
      hostname: hostname(),
      lifecycle: status === 'ALIVE' ? 'running' : status.toLowerCase(),
      lb_status: status.toLowerCase(),
      timezone: 'UTC',
      operating_system: `${platform()} ${release()}`,
      is_leader: true,
      is_processing: processing.isHere,
    };
  };
  const node = () => ({
    cluster_id: clusterId,
    node_id: nodeId,
    type: 'server',
    is_leader: true,
    is_master: true,
    transport_address: `${config.api.tls.enabled ? 'https' : 'http'}://${config.api.host}:${config.api.port}/api/`,
    last_seen: new Date().toISOString(),
    short_node_id: nodeId.slice(0, 8),
    hostname: hostname(),
  });

  app.get(
    '/api/system',
    { config: { permission: 'authenticated' }, schema: { summary: 'This process', tags, response: { 200: system } } },
    facts,
  );
  app.get(
    '/api/cluster',
    {
      config: { permission: 'authenticated' },
      schema: {
        summary: 'Processes of the platform; each is asked for itself',
        tags,
        response: { 200: Type.Record(Type.String(), system) },
      },
    },
    async () => ({ [nodeId]: await facts() }),
  );
  app.get(
    '/api/system/cluster/nodes',
    {
      config: { permission: 'system:read' },
      schema: { summary: 'This process as a node', tags, response: { 200: nodes } },
    },
    async () => ({ total: 1, nodes: [node()] }),
  );
  app.get(
    '/api/system/cluster/node',
    {
      config: { permission: 'system:read' },
      schema: { summary: 'This process as a node', tags, response: { 200: nodes.properties.nodes.items } },
    },
    async () => node(),
  );

  app.get(
    '/api/system/lbstatus',
    {
      config: { permission: 'public', produces: ['text/plain', 'application/json'] },
      schema: {
        summary: 'For load balancers: ALIVE, DEAD or THROTTLED',
        tags,
        response: { 200: Type.String(), 429: Type.String(), 503: Type.String() },
      },
    },
    async (_, reply) => {
      const status = await lbStatus();
      return reply
        .code(status === 'ALIVE' ? 200 : status === 'DEAD' ? 503 : 429)
        .type('text/plain; charset=utf-8')
        .serializer(String)
        .send(status);
    },
  );

  app.put(
    '/api/system/lbstatus/override/:status',
    {
      config: { permission: 'administrator', audit: 'lbstatus:override' },
      schema: {
        summary: 'Say a status to load balancers, whatever the process does; automatic ends that',
        tags,
        params: Type.Object({ status: Type.Enum(['alive', 'dead', 'throttled', 'automatic']) }),
        response: { 204: nothing },
      },
    },
    async ({ params: { status } }, reply) => {
      override = status === 'automatic' ? undefined : (status.toUpperCase() as 'ALIVE' | 'DEAD' | 'THROTTLED');
      return reply.code(204).send(null);
    },
  );

  app.get(
    '/api/system/journal',
    {
      config: { permission: 'system:read' },
      schema: { summary: 'Messages between receivers and the store', tags, response: { 200: journal } },
    },
    async () => {
      await processing.collect();
      const { received, appended, stored, dead_lettered: deadLettered, refused, shed } = await monitoring.counts();
      const { ok, reason } = health.writable();
      return {
        enabled: true,
        uncommitted_journal_entries: await processing.lag(),
        oldest_unprocessed_seconds: await monitoring.oldestUnprocessed(),
        received,
        appended,
        stored,
        dead_lettered: deadLettered,
        refused,
        shed,
        writable: ok,
        reason,
      };
    },
  );

  app.get(
    '/api/system/notifications',
    {
      config: { permission: 'system:read' },
      schema: {
        summary: 'What this process has warned of lately, and objects left out of the rules',
        tags,
        response: { 200: Type.Object({ total: Type.Integer(), notifications: Type.Array(notification) }) },
      },
    },
    async () => {
      const warned = monitoring.problems().map(({ text, level, time, count, since }) => ({
        type: 'warning',
        severity: level === 'warn' ? 'normal' : 'urgent',
        timestamp: time,
        node_id: nodeId,
        details: { text, count, since },
      }));
      const catalog = await definitions.catalog();
      const leftOut = (['streams', 'rules', 'index-sets', 'outputs'] as const).flatMap((kind) =>
        catalog
          .list(kind)
          .filter(({ problem }) => problem !== undefined)
          .map(({ id, problem, stored }) => ({
            type: 'object_left_out',
            severity: 'urgent',
            timestamp: stored?.changed_at ?? startedAt,
            node_id: nodeId,
            details: { text: `${kind} ${id}: ${problem ?? ''}` },
          })),
      );
      return { total: warned.length + leftOut.length, notifications: [...leftOut, ...warned] };
    },
  );

  app.get(
    '/api/metrics/prometheus',
    {
      config: {
        permission: 'system:read',
        checks: 'of single streams, rules, outputs and index sets: reading of every message, or `index-sets:edit`',
        produces: ['text/plain', 'application/json'],
      },
      schema: {
        summary: 'Metrics of this process in Prometheus text format',
        description:
          'Without those of single streams, rules, outputs and index sets for who may not read every message.',
        tags,
        response: { 200: Type.String() },
      },
    },
    async ({ identity }, reply) => {
      await processing.collect();
      await outputs.collect();
      const metrics = await services.registry.metrics();
      return reply
        .type(services.registry.contentType)
        .serializer(String)
        .send(countsAll(identity, deadLetterSet) ? metrics : withoutCountsOfParts(metrics));
    },
  );

  app.get(
    '/api/system/throughput',
    {
      config: { permission: 'system:read' },
      schema: {
        summary: 'Messages stored since this process started',
        tags,
        response: {
          200: Type.Object({ throughput: Type.Number(), stored: Type.Integer(), since: nullable(Type.String()) }),
        },
      },
    },
    async () => {
      const { stored } = await monitoring.counts();
      return { throughput: Math.round((stored / Math.max(1, process.uptime())) * 10) / 10, stored, since: startedAt };
    },
  );
}

/** They count messages that may not be read: of Audit logs, of single streams. */
function withoutCountsOfParts(metrics: string): string {
  return metrics
    .split('\n')
    .filter(
      (line) =>
        !/[{,](?:stream|rule|index_set|output)="|receiver="audit"|topic="(?![^"]*logs")|^sluice_dead_letters/.test(
          line,
        ),
    )
    .join('\n');
}
