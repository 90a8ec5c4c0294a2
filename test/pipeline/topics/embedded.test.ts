import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { silentLog } from '../../../core/log.js';
import { Registry } from '../../../core/metrics.js';
import { createEmbeddedTopicLog } from '../../../pipeline/topics/embedded.js';
import { testTopicLog, type TopicPlace } from './contract.js';

async function createPlace(test: Test): Promise<TopicPlace> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-topics-'));
  test.teardown(() => rm(folder, { recursive: true }));
  const options = { folder, segmentBytes: 64 * 1024, reserveBytes: 1, log: silentLog };
  return {
    async open() {
      const log = createEmbeddedTopicLog({ ...options, registry: new Registry() });
      test.teardown(() => log.stop(1000));
      await log.start();
      return log;
    },
    openReader: async () => createEmbeddedTopicLog({ ...options, registry: new Registry(), readOnly: true }),
    named: (name) => name,
  };
}

await testTopicLog(t, { name: 'embedded', createPlace });
