import { defineErrors } from '../../core/errors.js';

export const workerErrors = defineErrors({
  WORKERS_IMPOSSIBLE: {
    retryable: false,
    exitCode: 2,
    summary:
      'Several workers need engines that several processes can share; set topics.kind to kafka and store.kind to opensearch, or workers to 1.',
  },
  WORKERS_KEEP_DYING: {
    retryable: false,
    exitCode: 2,
    summary:
      'A worker ended again and again shortly after its start, so the program gives up; the log lines before say why.',
  },
  WORKERS_NONE_ANSWERS: {
    retryable: true,
    exitCode: 2,
    summary: 'No worker can answer at the moment; those that ended are being started again.',
  },
});
