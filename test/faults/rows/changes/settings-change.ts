import { startAgain } from '../../acting.js';
import type { Row } from '../../row.js';

export const settingsChange: Row = {
  name: 'settings-change',
  title: 'index-set settings changed while it runs, then other batch sizes and waits with a restart',
  sets: ['embedded', 'cluster'],
  answers: 'the processor is started again',
  inject: async (world) => {
    world.writeRules({ maxDocuments: 2_000, refreshMs: 2_000 });
    const [processor] = world.processors;
    await processor.end('SIGTERM');
    processor.change({
      processing: { batch_records: 700, concurrency: 2, wait_for_more_ms: 20 },
      topics: { batch_bytes: 100_000, linger_ms: 20 },
    });
  },
  heal: (world) => startAgain(world.processors[0]),
};
