import { defineEvents } from '../../core/events.js';

export const startEvents = defineEvents({
  programFailed: {
    level: 'fatal',
    message: 'cannot go on; stopping',
    fields: { error: 'text' },
  },
  stopRequested: {
    level: 'info',
    message: 'stopping; a second signal ends at once',
    fields: { signal: 'text' },
  },
  programStarted: {
    level: 'info',
    message: 'started',
    fields: { version: 'text', inflater: 'text', workers: 'number', receivers: 'object' },
  },
  programStopped: {
    level: 'info',
    message: 'stopped',
  },
});
