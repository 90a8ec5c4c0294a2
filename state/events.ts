import { defineEvents } from '../core/events.js';

export const stateEvents = defineEvents({
  stateUnwritten: {
    level: 'error',
    message: (error) => `the state could not be written, it is opened again: ${error}`,
    fields: { key: 'text' },
  },
  stateListenerFailed: {
    level: 'error',
    message: (error) => `a listener of state changes failed: ${error}`,
  },
  stateWatchFailed: {
    level: 'warn',
    message: 'watching the state failed; it is tried again',
    fields: { index: 'text', error: 'text' },
  },
});
