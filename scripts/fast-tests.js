/**
 * The tests of `npm run test:fast`, under a minute: no engines, and no whole program in a process of its own. A folder
 * brings all its files except those that are left out, each with its reason.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

const folders = [
  'access',
  'cli',
  'config',
  'core',
  'definitions',
  'gelf',
  'load',
  'pipeline/settle',
  'receivers',
  'rules',
  'search',
  'sinks/outputs',
  'structure.test.js',
];

const leftOut = {
  'access/hidden-fields.test.js': 'starts a program',
  'access/opensearch.test.js': 'needs OpenSearch',
  'access/throttle.test.js': 'hashes many passwords',
  'definitions/graylog/pipeline-rules/fuzz.test.js': 'thousands of random rules',
  'definitions/shared.test.js': 'needs OpenSearch',
  'receivers/new-kind.test.js': 'starts a program',
  'receivers/real-senders.test.js': 'starts the senders of others',
  'search/properties.test.js': 'judges time, alone on its core',
  'search/searcher-opensearch.test.js': 'needs OpenSearch',
};

/** Paths of compiled test files, relative to the root of the repository. */
export function fastTests(root) {
  const tests = join(root, 'build', 'test');
  const filesIn = (path) =>
    path.endsWith('.js')
      ? [path]
      : readdirSync(join(tests, path), { withFileTypes: true }).flatMap((entry) =>
          entry.isDirectory()
            ? filesIn(`${path}/${entry.name}`)
            : entry.name.endsWith('.test.js')
              ? [`${path}/${entry.name}`]
              : [],
        );
  return folders
    .flatMap(filesIn)
    .filter((file) => !(file in leftOut))
    .map((file) => `build/test/${file}`);
}
