import { defineEvents } from '../core/events.js';

export const definitionEvents = defineEvents({
  definitionLeftOut: {
    level: 'error',
    message: 'an object made through the API does not fit the rule files and is left out',
    fields: { object: 'text', problem: 'text' },
  },
  ruleChangeRefused: {
    level: 'error',
    message: 'the changed rule files cannot be used; the rules before stay in force',
    fields: { error: 'text', rule_set_version: 'text' },
  },
  definitionsUnread: {
    level: 'warn',
    message: 'objects could not be read; trying again',
    fields: { error: 'text' },
  },
  ownStateUnread: {
    level: 'warn',
    message: 'the state with objects made through the API cannot be read yet; trying again',
    fields: { error: 'text' },
  },
});
