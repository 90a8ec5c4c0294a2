/** What the running program does. */
import type { ControlPorts, ControlRoutes } from './contract.js';

type StatusPorts = Pick<
  ControlPorts,
  'adminPort' | 'health' | 'indices' | 'monitoring' | 'outputs' | 'processing' | 'receivers'
>;

export function statusRoutes(ports: StatusPorts): ControlRoutes {
  return { 'GET /status': async () => ({ ...(await status(ports)), admin_port: ports.adminPort() }) };
}

async function status({
  health,
  indices,
  monitoring,
  outputs,
  processing,
  receivers,
}: StatusPorts): Promise<Readonly<Record<string, unknown>>> {
  const processor = processing();
  await processor?.collect();
  const sets = await Promise.all(
    (processor?.rules()?.indexSets ?? []).map(async (set) => ({
      id: set.id,
      rotation: set.rotation,
      indices: (await indices?.list(set.id)) ?? [],
    })),
  );
  return {
    pid: process.pid,
    at: Date.now(),
    counts: await monitoring.counts(),
    oldest_unprocessed_seconds: await monitoring.oldestUnprocessed(),
    receivers: receivers.list().map((receiver) => ({ name: receiver.name, ...receiver.address() })),
    partitions: processor?.partitions(),
    lag: processor === undefined ? undefined : await processor.lag(),
    rule_set_version: processor?.rules()?.version,
    epoch: processor?.epoch(),
    index_sets: sets,
    parking: (await processor?.parked()) ?? [],
    outputs: await outputs.status(),
    problems: monitoring.problems(),
    ready: await health.ready(),
  };
}
