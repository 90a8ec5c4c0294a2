import { defineTextCondition, textCondition } from './comparing/text.js';
import type { Condition } from './define.js';

const includes = (text: string, wanted: string): boolean => text.includes(wanted);

export const contains = defineTextCondition({
  name: 'contains',
  description: 'The text of the field contains this.',
  verb: 'contains',
  example: {
    when: { field: 'tag', contains: 'var/log/messages' },
    matches: { tag: 'host./var/log/messages' },
    misses: { tag: '/var/log/syslog' },
  },
  holds: includes,
});

export const containing = (field: string, wanted: string): Condition =>
  textCondition({ verb: 'contains', holds: includes }, field, wanted, false);
