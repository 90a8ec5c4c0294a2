import { defineErrors } from '../core/errors.js';

export const pipelineErrors = defineErrors({
  PIPELINE_ROLE_IMPOSSIBLE: {
    retryable: false,
    exitCode: 2,
    summary:
      'Receiver and processor can be processes of their own only on a shared topic log; set topics.kind to kafka, or start without --role.',
  },
  PIPELINE_STOPPED: { retryable: true, summary: 'The pipeline is stopping and takes nothing more.' },
  PIPELINE_PARTITION_LOST: {
    retryable: true,
    summary: 'The partition belongs to another processor now; its messages are delivered there.',
  },
  PIPELINE_MESSAGE_TOO_LARGE: {
    retryable: false,
    summary:
      'The message is larger than a topic record may be; raise topics.max_message_bytes or send smaller messages.',
  },
  PIPELINE_RULES_MISSING: {
    retryable: true,
    exitCode: 2,
    summary: 'The rule set of an epoch cannot be read or compiled; see the state store.',
  },
  PIPELINE_RULES_NOT_UNDERSTOOD: {
    retryable: true,
    exitCode: 2,
    summary:
      'Messages were accepted under a kept rule set that this version of Sluice does not understand; they are held. Start the version that kept it until they are worked off.',
  },
  PIPELINE_EPOCH_MISSING: {
    retryable: true,
    summary: 'A partition record names an epoch that the state store does not have.',
  },
  PIPELINE_EPOCH_INCOMPLETE: {
    retryable: true,
    summary: 'An epoch names no index for an index set that its rules route to.',
  },
  PIPELINE_DOCUMENTS_LOST: {
    retryable: true,
    summary:
      'The store died before it had synced documents that it spoke of as stored already; they are written again.',
  },
  PIPELINE_EPOCH_RACE: {
    retryable: true,
    summary: 'Other processors changed epochs or indices at the same moment, again and again.',
  },
});
