import { pause, repeat } from '../../acting.js';
import type { Row } from '../../row.js';

/** Longer than the six seconds of a session. */
const pauseMs = 9_000;

export const pausedPastSession: Row = {
  name: 'paused-past-session',
  title: 'a processor paused past its session at random moments, and woken',
  sets: ['cluster'],
  cases: ['C2'],
  needs: { shape: 'pair' },
  answers: 'the processor goes on',
  inject: async (world) => {
    const [processor] = world.processors;
    await repeat(world, async (round) => {
      processor.pause();
      await pause(pauseMs);
      if (round < world.rounds) processor.resume();
    });
  },
  heal: async (world) => world.processors[0].resume(),
};
