/** Dead letters and the jobs that work on them. */
import type { ContractRow } from './row.js';

export const deadLetterRows: readonly ContractRow[] = [
  ['GET', '/api/dead-letters', 200, undefined, { keep: { letter: 'dead_letters.0.id' } }],
  ['GET', '/api/dead-letters?limit=-1', 400],
  ['GET', '/api/dead-letters/{letter}', 200],
  ['GET', '/api/dead-letters/none', 404],
  ['POST', '/api/dead-letters/replay', 202, { all: true, dry_run: true }, { keep: { work: 'id' } }],
  ['POST', '/api/dead-letters/replay', 400, {}],
  ['POST', '/api/dead-letters/drop', 202, { ids: ['{letter}'] }, { wait: true }],
  ['POST', '/api/dead-letters/drop', 400, {}],
  ['GET', '/api/dead-letters/jobs', 200],
  ['GET', '/api/dead-letters/jobs/{work}', 200],
  ['GET', '/api/dead-letters/jobs/none', 404],
  ['DELETE', '/api/dead-letters/jobs/{work}', 204],
  ['DELETE', '/api/dead-letters/jobs/none', 404],
];
