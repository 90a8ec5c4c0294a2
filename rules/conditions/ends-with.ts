import { defineTextCondition } from './comparing/text.js';

export const endsWith = defineTextCondition({
  name: 'ends_with',
  description: 'The text of the field ends with this.',
  verb: 'ends with',
  example: {
    when: { field: 'tag', ends_with: 'audit.log' },
    matches: { tag: '/var/log/audit/audit.log' },
    misses: { tag: '/var/log/audit/audit.log.1' },
  },
  holds: (text, wanted) => text.endsWith(wanted),
});
