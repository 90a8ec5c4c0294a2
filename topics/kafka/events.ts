import { defineEvents } from '../../core/events.js';

export const kafkaEvents = defineEvents({
  clientTraced: {
    level: 'debug',
    message: (message) => `kafka: ${message}`,
    fields: { broker: 'value?', groupId: 'value?' },
  },
  clientWarned: {
    level: 'warn',
    message: (message) => `kafka: ${message}`,
    fields: { namespace: 'text', broker: 'value?', groupId: 'value?', error: 'value?', suppressed: 'number' },
  },
  clientFailed: {
    level: 'debug',
    message: (message) => `kafka: ${message}`,
    fields: { namespace: 'text', broker: 'value?', groupId: 'value?', error: 'value?', suppressed: 'number' },
  },
  appendDelayed: {
    level: 'warn',
    message: 'an append waits for Kafka',
    fields: { topic: 'text', partition: 'number', reason: 'text', suppressed: 'number' },
  },
  topicsCreated: {
    level: 'info',
    message: 'topics created',
    fields: { topics: 'texts' },
  },
  topicTruncated: {
    level: 'error',
    message:
      'the topic ends before the committed offset: it was made again or truncated; it is read from its earliest record',
    fields: { group: 'text', topic: 'text', partition: 'number', expected: 'number', found: 'number' },
  },
  recordsExpired: {
    level: 'error',
    message: "records were deleted by the topic's retention before they were consumed; they are lost",
    fields: { group: 'text', topic: 'text', partition: 'number', expected: 'number', found: 'number', lost: 'number' },
  },
  memberNotKept: {
    level: 'warn',
    message: 'the data folder does not keep the member of the group; after a kill its session would be waited for',
    fields: { group: 'text', error: 'text' },
  },
  membersReleased: {
    level: 'info',
    message: 'the group has let go the members of a process that has ended',
    fields: { group: 'text', members: 'texts' },
  },
  sessionAwaited: {
    level: 'warn',
    message: 'the session of a process that has ended is waited for',
    fields: { group: 'text', members: 'texts', error: 'text' },
  },
  partitionsAssigned: {
    level: 'info',
    message: (text) => text,
    fields: { group: 'text', generation: 'number', partitions: 'texts' },
  },
  batchRejected: {
    level: 'warn',
    message: 'a batch was rejected and is delivered again',
    fields: { group: 'text', topic: 'text', partition: 'number', error: 'text' },
  },
  consumerRestarted: {
    level: 'warn',
    message: 'the consumer lost Kafka and connects anew',
    fields: { group: 'text', error: 'text' },
  },
  brokerStillAway: {
    level: 'debug',
    message: 'Kafka does not answer yet',
    fields: { group: 'text', error: 'text' },
  },
  startRetried: {
    level: 'warn',
    message: (text) => text,
    fields: { brokers: 'texts', error: 'text', type: 'text' },
  },
});
