import { missingForDisk } from '../../world/create-world.js';
import { pause } from '../../acting.js';
import type { Row } from '../../row.js';

const mib = 2 ** 20;

export const diskFull: Row = {
  name: 'disk-full',
  title: 'the disk full to its last block',
  sets: ['embedded'],
  missing: missingForDisk,
  answers: 'there is room again',
  needs: {
    diskBytes: 3_000 * mib,
    settings: {
      topics: { embedded: { reserve_bytes: 8 * mib } },
      store: { embedded: { reserve_bytes: 16 * mib, max_total_bytes: 6_000 * mib } },
    },
  },
  inject: async (world) => {
    world.fillDisk();
    await pause(world.awayMs);
  },
  heal: async (world) => world.emptyDisk(),
};
