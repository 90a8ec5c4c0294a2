import { caughtUp, inTime, pause, retentionByRequest, retire } from '../../acting.js';
import type { Row } from '../../row.js';

export const resendAfterRotations: Row = {
  name: 'resend-after-rotations',
  title: 'an acknowledgement of an append cut; the index rotated twice and retired before the resend',
  sets: ['cluster'],
  cases: ['C3'],
  needs: { settings: retentionByRequest, rules: { keep: 1 } },
  answers: 'the receiver goes on',
  inject: async (world) => {
    await inTime(
      new Promise<void>((resolve) => {
        world.kafka.cutAcknowledgementsOf(1, 1, () => {
          world.receiver.pause();
          resolve();
        });
      }),
      'an acknowledgement to cut',
    );
    await caughtUp(world);
    await world.rotate();
    await pause(1_000);
    await world.rotate();
    await pause(2_000);
    await retire(world);
  },
  heal: async (world) => world.receiver.resume(),
  settle: retire,
};
