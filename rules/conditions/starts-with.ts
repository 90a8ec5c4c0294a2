import { defineTextCondition } from './comparing/text.js';

export const startsWith = defineTextCondition({
  name: 'starts_with',
  description: 'The text of the field starts with this.',
  verb: 'starts with',
  example: {
    when: { field: 'namespace', starts_with: 'kube-' },
    matches: { namespace_name: 'kube-system' },
    misses: { namespace_name: 'my-kube-' },
  },
  holds: (text, wanted) => text.startsWith(wanted),
});
