import { missingForNetwork } from '../../causes/network.js';
import { pause } from '../../acting.js';
import type { Row } from '../../row.js';

/** Longer than the six seconds of a session. */
const cutMs = 12_000;

export const networkCutProcessor: Row = {
  name: 'network-cut-processor',
  title: "a processor's host cut off from the engines, past its session",
  sets: ['hosts'],
  needs: { shape: 'pair' },
  missing: missingForNetwork,
  answers: 'the network is whole again',
  inject: async (world) => {
    await world.processors[0].host?.cut('engines');
    await pause(cutMs);
  },
  heal: async (world) => world.processors[0].host?.mend('engines'),
};
