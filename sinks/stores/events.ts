import { defineEvents } from '../../core/events.js';

export const storeEvents = defineEvents({
  storeEnded: {
    level: 'error',
    message: 'the embedded store has ended',
    fields: { code: 'text', reason: 'text' },
  },
  wordsNotAdded: {
    level: 'warn',
    message: 'words could not be added to the index of words; searches look through the texts, and it is tried again',
    fields: { index: 'text', reason: 'text' },
  },
  storeStarted: {
    level: 'info',
    message: 'opensearch store started',
    fields: { nodes: 'texts', ok: 'boolean', reason: 'text' },
  },
  documentNotFound: {
    level: 'warn',
    message: 'a stored document is not found by a search after a minute',
    fields: { index: 'text', id: 'text' },
  },
  searchDelayUnknown: {
    level: 'debug',
    message: 'the delay until a search finds a message could not be measured',
    fields: { index: 'text', error: 'text' },
  },
});
