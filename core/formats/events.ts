import { defineEvents } from '../events.js';

export const formatEvents = defineEvents({
  migrationStarted: {
    level: 'info',
    message: (format) => `migrating the ${format}`,
    fields: { place: 'text', from: 'number', to: 'number', what: 'text?' },
  },
  versionReached: {
    level: 'info',
    message: (format, version) => `the ${format} is of version ${version}`,
    fields: { place: 'text', from: 'number', to: 'number' },
  },
});
