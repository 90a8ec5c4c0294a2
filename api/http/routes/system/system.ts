/** This process as a node of the platform, and what load balancers are told of it. */
import { hostname, platform, release } from 'node:os';
import { Type } from 'typebox';
import { packageVersion } from '../../../../core/process/package-root.js';
import type { ApiServer } from '../../contract.js';
import { nothing } from '../../objects/shapes.js';
import { thisProcess } from '../../objects/this-process.js';
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

type LoadBalancerStatus = 'ALIVE' | 'DEAD' | 'THROTTLED';
const statuses = { alive: 'ALIVE', dead: 'DEAD', throttled: 'THROTTLED', automatic: undefined } as const;
type SystemPorts = Pick<ApiServices, 'config' | 'health' | 'processing'>;

export function systemRoutes(app: ApiServer, ports: SystemPorts): void {
  const status = new StatusOfProcess(ports.health);
  const describe = createDescription(ports, status);
  addProcess(app, describe);
  addNodes(app, describe);
  addLoadBalancerStatus(app, status);
  addOverride(app, status);
}

/** What load balancers are told, until somebody says something else. */
class StatusOfProcess {
  readonly #health: SystemPorts['health'];
  #override: LoadBalancerStatus | undefined;

  constructor(health: SystemPorts['health']) {
    this.#health = health;
  }

  /** Undefined: what the process finds of itself. */
  override(status: LoadBalancerStatus | undefined): void {
    this.#override = status;
  }

  async read(): Promise<LoadBalancerStatus> {
    if (this.#override !== undefined) return this.#override;
    if (!this.#health.writable().ok) return 'THROTTLED';
    return (await this.#health.ready()).ok ? 'ALIVE' : 'DEAD';
  }
}

type Description = ReturnType<typeof createDescription>;

function createDescription({ config, processing }: SystemPorts, status: StatusOfProcess) {
  const { nodeId, clusterId, startedAt } = thisProcess(config);
  const facts = async () => {
    const now = await status.read();
    return {
      facility: 'sluice',
      codename: 'sluice',
      node_id: nodeId,
      cluster_id: clusterId,
      version: packageVersion,
      started_at: startedAt,
      hostname: hostname(),
      lifecycle: now === 'ALIVE' ? 'running' : now.toLowerCase(),
      lb_status: now.toLowerCase(),
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

  return { nodeId, facts, node };
}

function addProcess(app: ApiServer, { nodeId, facts }: Description): void {
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
}

function addNodes(app: ApiServer, { node }: Description): void {
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
}

function addLoadBalancerStatus(app: ApiServer, status: StatusOfProcess): void {
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
      const now = await status.read();
      return reply
        .code(now === 'ALIVE' ? 200 : now === 'DEAD' ? 503 : 429)
        .type('text/plain; charset=utf-8')
        .serializer(String)
        .send(now);
    },
  );
}

function addOverride(app: ApiServer, status: StatusOfProcess): void {
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
    async ({ params: { status: wanted } }, reply) => {
      status.override(statuses[wanted]);
      return reply.code(204).send(null);
    },
  );
}
