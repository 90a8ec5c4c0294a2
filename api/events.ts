import { defineEvents } from '../core/events.js';

export const apiEvents = defineEvents({
  auditRecordLost: {
    level: 'error',
    message: 'an audit record could not be sent into the pipeline',
    fields: { audit: 'object', reason: 'text', suppressed: 'number' },
  },
  requestRefused: {
    level: 'warn',
    message: 'a request could not be answered now',
    fields: { error: 'text', code: 'text', path: 'text?' },
  },
  requestFailed: {
    level: 'error',
    message: 'a request failed',
    fields: { error: 'text', reference: 'text', method: 'text', path: 'text?' },
  },
  longWorkUnshared: {
    level: 'warn',
    message: 'other processes cannot be told of long work; trying again',
    fields: { error: 'text' },
  },
  exportCut: {
    level: 'warn',
    message: 'an export was cut short',
    fields: { error: 'text', export: 'text' },
  },
  tailEnded: {
    level: 'warn',
    message: 'a live tail ended',
    fields: { error: 'text' },
  },
  searchFailed: {
    level: 'error',
    message: 'a search failed',
    fields: { error: 'text' },
  },
  searchJobFailed: {
    level: 'warn',
    message: 'a search job failed',
    fields: { error: 'text' },
  },
  searchJobUnshared: {
    level: 'warn',
    message: 'a search job could not be shared',
    fields: { error: 'text' },
  },
  shippedObjectsMissed: {
    level: 'warn',
    message: 'the searches and views that are created at the start could not be created',
    fields: { error: 'text' },
  },
  shippedObjectCreated: {
    level: 'info',
    message: 'created what the file says',
    fields: { file: 'text' },
  },
  shippedFileRefused: {
    level: 'warn',
    message: 'the file of a search or view cannot be used',
    fields: { file: 'text', error: 'text' },
  },
  userChanged: {
    level: 'info',
    message: 'a user was changed from the command line',
    fields: { action: 'text', object: 'text', actor: 'text' },
  },
});
