import t, { type Test } from 'tap';
import { testTopicLog, type TopicPlace } from './contract.js';
import { createFolder, createLog, startLog } from './embedded/folder.js';

async function createPlace(test: Test): Promise<TopicPlace> {
  const folder = await createFolder(test);
  return {
    open: () => startLog(test, folder),
    openReader: async () => createLog(test, folder, { readOnly: true }),
    named: (name) => name,
  };
}

await testTopicLog(t, { name: 'embedded', createPlace });
