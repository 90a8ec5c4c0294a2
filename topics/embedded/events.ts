import { defineEvents } from '../../core/events.js';

export const embeddedEvents = defineEvents({
  offsetsUnwritten: {
    level: 'error',
    message: (error) => `committed offsets cannot be written, tried again: ${error}`,
    fields: { group: 'text', suppressed: 'number' },
  },
  partitionRecovered: {
    level: 'info',
    message: 'the topic takes appends again',
    fields: { topic: 'text', partition: 'number' },
  },
  appendRefused: {
    level: 'error',
    message: (text) => text,
    fields: { code: 'text', topic: 'text', partition: 'number', suppressed: 'number' },
  },
  offsetsLostAtStop: {
    level: 'warn',
    message: (error) => `committed offsets could not be written at the stop, their records come again: ${error}`,
    fields: { group: 'text' },
  },
  revocationFailed: {
    level: 'error',
    message: (error) => `the consumer failed to give up a partition: ${error}`,
    fields: { topic: 'text', partition: 'number' },
  },
  topicUnread: {
    level: 'error',
    message: (error) => `the topic cannot be read, tried again: ${error}`,
    fields: { topic: 'text', partition: 'number' },
  },
  batchRepeated: {
    level: 'warn',
    message: (error) => `a batch is delivered again: ${error}`,
    fields: { group: 'text', topic: 'text', pause_ms: 'number' },
  },
  tornAppendCut: {
    level: 'warn',
    message: 'an append that was never acknowledged was cut off the end of the topic',
    fields: { topic: 'text', partition: 'number', bytes: 'number' },
  },
  frameCorrupted: {
    level: 'error',
    message: (text) => text,
    fields: { topic: 'text', partition: 'number', bytes: 'number', code: 'text' },
  },
  retentionHeldBack: {
    level: 'warn',
    message:
      'the topic is past its retention: these consumer groups have not consumed its oldest records, so they are kept. ' +
      'For a group that is not used any more, stop Sluice and remove groups/<group>.offsets from the data folder',
    fields: { topic: 'text', held_bytes: 'number', groups: 'texts' },
  },
  retentionFailed: {
    level: 'error',
    message: (error) => `retention of the topics failed, tried again: ${error}`,
  },
  offsetsNotFlushed: {
    level: 'error',
    message: (error) => `committed offsets could not be written: ${error}`,
    fields: { group: 'text' },
  },
  recordsLost: {
    level: 'error',
    message: 'records of the topic are gone that the group had not consumed',
    fields: { group: 'text', topic: 'text', partition: 'number', from: 'number', to: 'number' },
  },
});
