import { missingForNetwork } from '../../causes/network.js';
import { pause } from '../../acting.js';
import type { Row } from '../../row.js';

export const networkCutSenders: Row = {
  name: 'network-cut-senders',
  title: "the receiver's host cut off from the senders",
  sets: ['hosts'],
  needs: { shape: 'pair' },
  missing: missingForNetwork,
  answers: 'the network is whole again',
  inject: async (world) => {
    await world.receiver.host?.cut('senders');
    await pause(world.awayMs);
  },
  heal: async (world) => world.receiver.host?.mend('senders'),
};
