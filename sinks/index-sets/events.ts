import { defineEvents } from '../../core/events.js';

export const indexSetEvents = defineEvents({
  retentionCheckFailed: {
    level: 'warn',
    message: 'retention check failed; it is repeated',
    fields: { index_set: 'text', error: 'text' },
  },
  indexRetired: {
    level: 'info',
    message: 'index retired',
    fields: { index: 'text', action: 'text' },
  },
  rotationCheckFailed: {
    level: 'warn',
    message: 'rotation check failed; it is repeated',
    fields: { index_set: 'text', error: 'text' },
  },
  indexRotated: {
    level: 'info',
    message: 'index rotated',
    fields: {
      index_set: 'text',
      from: 'text',
      to: 'text?',
      cause: 'text',
      bytes: 'number',
      pending_bytes: 'number?',
      documents: 'number',
    },
  },
  rotatedIndexUnfolded: {
    level: 'warn',
    message: 'the write-ahead log of a rotated index could not be folded in',
    fields: { index: 'text', error: 'text' },
  },
  indexSetCheckFailed: {
    level: 'warn',
    message: 'index set check failed; it is repeated',
    fields: { error: 'text' },
  },
});
