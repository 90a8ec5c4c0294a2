/** What the running program does. */
import type { Sluice } from '../../program/sluice.js';
import type { ControlRoutes } from './routes.js';

export function statusRoutes(sluice: Sluice, adminPort: () => number | undefined): ControlRoutes {
  return { 'GET /status': async () => ({ ...(await status(sluice)), admin_port: adminPort() }) };
}

async function status(sluice: Sluice): Promise<Readonly<Record<string, unknown>>> {
  const { processor, store } = sluice;
  await processor?.collect();
  const sets = await Promise.all(
    (processor?.rules()?.indexSets ?? []).map(async (set) => ({
      id: set.id,
      rotation: set.rotation,
      indices: (await store?.listIndices(set.id)) ?? [],
    })),
  );
  return {
    pid: process.pid,
    at: Date.now(),
    counts: await sluice.view.counts(),
    oldest_unprocessed_seconds: await sluice.view.oldestUnprocessed(),
    receivers: sluice.receivers.map((receiver) => ({ name: receiver.name, ...receiver.address() })),
    partitions: processor?.partitions(),
    lag: processor === undefined ? undefined : await processor.lag(),
    rule_set_version: processor?.rules()?.version,
    epoch: processor?.ledger.latestEpoch(),
    index_sets: sets,
    parking: (await processor?.parking.list()) ?? [],
    outputs: (await sluice.outputs?.status()) ?? [],
    problems: sluice.view.problems(),
    ready: await sluice.ready(),
  };
}
