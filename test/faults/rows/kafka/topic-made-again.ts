import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { withKafka, workedOff } from '../../acting.js';
import type { Row } from '../../row.js';
import type { World } from '../../world/world.js';

async function remove(world: World): Promise<void> {
  const topic = `${world.topicPrefix}logs`;
  if (world.own !== undefined) {
    await withKafka(world, (admin) => admin.deleteTopics({ topics: [topic] }));
    return;
  }
  const folder = join(world.dataFolder, 'topics');
  for (const name of readdirSync(folder)) if (name.startsWith(topic)) rmSync(join(folder, name), { recursive: true });
}

export const topicMadeAgain: Row = {
  name: 'topic-made-again',
  title: 'the topic of logs deleted when it was worked off, and made again',
  sets: ['embedded', 'cluster'],
  cases: ['E2'],
  needs: { alone: true },
  answers: 'the receiver runs again',
  inject: async (world) => {
    await world.receiver.end('SIGTERM');
    world.listens(false);
    await world.receiver.start();
    await workedOff(world);
    for (const program of new Set([world.receiver, ...world.processors])) await program.end('SIGTERM');
    world.listens(true);
    await world.reckoner.readTopic();
    await remove(world);
    world.reckoner.topicMadeAgain();
  },
  heal: async (world) => {
    for (const program of new Set([...world.processors, world.receiver])) await program.start();
  },
};
