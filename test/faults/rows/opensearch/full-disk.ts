import { until } from '../../../program.js';
import { drained, pause } from '../../acting.js';
import type { Row } from '../../row.js';
import type { World } from '../../world/world.js';

const levels = ['low', 'high', 'flood_stage'] as const;

/** The node takes its disk for full when less than this is free; `undefined`: as it was started. */
async function setWatermarks(world: World, free: string | undefined): Promise<void> {
  const transient = Object.fromEntries(
    levels.map((level) => [`cluster.routing.allocation.disk.watermark.${level}`, free ?? null]),
  );
  await world.openSearch('PUT', '/_cluster/settings', { transient });
}

async function isBlocked(world: World): Promise<boolean> {
  return JSON.stringify(await world.openSearch('GET', '/sluice_default_*/_settings/index.blocks*')).includes(
    'read_only_allow_delete',
  );
}

/**
 * Above its high watermark OpenSearch makes no index either, and takes that back by itself somewhat later than the
 * blocks of the indices.
 */
async function makesNoIndex(world: World): Promise<boolean> {
  return JSON.stringify(await world.openSearch('GET', '/_cluster/state/blocks')).includes('create-index blocked');
}

/** The engine looks at its disk every ten seconds. */
const noticeMs = 60_000;

export const openSearchFullDisk: Row = {
  name: 'opensearch-full-disk',
  title: 'OpenSearch takes its disk for full (flood stage)',
  sets: ['cluster'],
  answers: 'it has taken its blocks away',
  inject: async (world) => {
    await setWatermarks(world, '100000gb');
    await until(
      async () => ((await isBlocked(world)) ? true : undefined),
      noticeMs,
      () => 'OpenSearch did not notice that its disk is full',
    );
    await pause(world.awayMs);
  },
  heal: async (world) => {
    await setWatermarks(world, undefined);
    await until(
      async () => ((await isBlocked(world)) || (await makesNoIndex(world)) ? undefined : true),
      noticeMs,
      () => 'OpenSearch did not notice that its disk is free',
    );
  },
  settle: drained,
};
