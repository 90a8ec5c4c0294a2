import { defineEvents } from '../core/events.js';

export const pipelineEvents = defineEvents({
  outputMessagesDropped: {
    level: 'error',
    message: 'messages for an output are dropped',
    fields: { output: 'text', reason: 'text', messages: 'number', suppressed: 'number' },
  },
  documentsRepeated: {
    level: 'warn',
    message: 'the store did not take some documents; they are written again',
    fields: { index: 'text', code: 'text', reason: 'text', documents: 'number' },
  },
  writeRepeated: {
    level: 'warn',
    message: 'a write to the store failed; it is repeated until it succeeds',
    fields: { index: 'text', code: 'text', error: 'text', documents: 'number' },
  },
  epochAppended: {
    level: 'info',
    message: 'epoch appended',
    fields: { epoch: 'number', cause: 'text', rule_set_version: 'text' },
  },
  indexBlocked: {
    level: 'warn',
    message: 'an index takes no writes',
    fields: { index: 'text', index_set: 'text', code: 'text', reason: 'text' },
  },
  indexMissed: {
    level: 'error',
    message: (part, index) =>
      `an index is ${part} that retention has not removed: restore it, or give it up with \`npx sluice parking abandon ${index}\``,
    fields: { index: 'text', index_set: 'text', code: 'text', reason: 'text' },
  },
  indexAbandoned: {
    level: 'warn',
    message: 'an index was given up: what is bound for it becomes a dead letter',
    fields: { index: 'text', index_set: 'text', rotated: 'boolean' },
  },
  outputTopicUnread: {
    level: 'error',
    message: 'an output cannot read its topic any more',
    fields: { output: 'text', error: 'text' },
  },
  outputStopped: {
    level: 'error',
    message: 'an output is stopped until its settings change',
    fields: { output: 'text', error: 'text' },
  },
  outputLoopFound: {
    level: 'error',
    message: 'an output is stopped until its settings change or the program starts again',
    fields: { output: 'text', error: 'text' },
  },
  waitingMessagesDropped: {
    level: 'error',
    message: 'waiting messages of an output are dropped by its policy',
    fields: { output: 'text', reason: 'text', messages: 'number', suppressed: 'number' },
  },
  waitingMessagesExpired: {
    level: 'error',
    message: 'messages of an output are lost: its topic no longer has them',
    fields: { output: 'text', reason: 'text', messages: 'number' },
  },
  outputNotCollected: {
    level: 'debug',
    message: 'an output could not be looked at',
    fields: { error: 'text' },
  },
  outputsNotChanged: {
    level: 'error',
    message: 'the outputs stay as they were',
    fields: { error: 'text' },
  },
  outputRemoved: {
    level: 'info',
    message: (text) => text,
    fields: { output: 'text' },
  },
  outputTopicWarned: {
    level: 'warn',
    message: (text) => text,
  },
  outputStarted: {
    level: 'info',
    message: 'output started',
    fields: { output: 'text', type: 'text', protocol: 'text', host: 'text', port: 'number', streams: 'texts' },
  },
  deadLetterRefused: {
    level: 'error',
    message: 'a dead letter was refused by the store; it stays in its topic until that expires',
    fields: { id: 'text?', code: 'text', reason: 'text' },
  },
  parkedBatchRepeated: {
    level: 'warn',
    message: 'a batch of a parking topic was not drained; it comes again',
    fields: { index_set: 'text', error: 'text' },
  },
  drainStarted: {
    level: 'info',
    message: 'the drain of a parking topic begins',
    fields: { index_set: 'text' },
  },
  drainDelayed: {
    level: 'warn',
    message: 'a parking topic cannot be drained yet; trying again',
    fields: { index_set: 'text', error: 'text' },
  },
  drainEnded: {
    level: 'info',
    message: 'a parking topic is drained',
    fields: { index_set: 'text' },
  },
  drainRestarted: {
    level: 'error',
    message: 'the drain of a parking topic ended; it is begun anew',
    fields: { index_set: 'text', error: 'text' },
  },
  parkingUnread: {
    level: 'warn',
    message: 'parking topics could not be looked at; trying again',
    fields: { error: 'text' },
  },
  engineAwaited: {
    level: 'warn',
    message: 'the engine does not answer; trying again',
    fields: { topic: 'text', partition: 'number', error: 'text' },
  },
  partitionLost: {
    level: 'warn',
    message: 'partition given up',
    fields: { topic: 'text', partition: 'number', reason: 'object' },
  },
  indexSetsParked: {
    level: 'error',
    message: 'index sets take no writes: their messages are parked until they do',
    fields: { topic: 'text', partition: 'number', index_sets: 'texts' },
  },
  epochDelayed: {
    level: 'warn',
    message: 'a silent partition could not take the new epoch; its next batch will',
    fields: { topic: 'text', partition: 'number', error: 'text' },
  },
  parkedMessagesDrained: {
    level: 'info',
    message: 'what was parked is drained; the index set is written again',
    fields: { topic: 'text', partition: 'number', index_set: 'text' },
  },
  drainUnknown: {
    level: 'warn',
    message: 'a partition could not see whether what it parked is drained; trying again',
    fields: { topic: 'text', partition: 'number', index_set: 'text', error: 'text' },
  },
  recordsMissing: {
    level: 'error',
    message: 'accepted records are missing from the topic',
    fields: { topic: 'text', partition: 'number', missing: 'number' },
  },
  receiverRunsForgotten: {
    level: 'warn',
    message: 'receiver runs were forgotten; a resend of theirs could be stored twice',
    fields: { topic: 'text', partition: 'number', evicted: 'number' },
  },
  receivedMessagesLost: {
    level: 'error',
    message: 'stopped before all received messages were durable',
    fields: { waiting_bytes: 'number' },
  },
});
