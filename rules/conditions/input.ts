import { Type } from 'typebox';
import { defineCondition, type Condition } from './define.js';

const description = 'The message came through the receiver of this name, in any case.';

export const input = defineCondition({
  name: 'input',
  description,
  takesField: false,
  schema: Type.String({ description, minLength: 1 }),
  example: { when: { input: 'gelf-udp' }, matches: { receiver: 'GELF-UDP' }, misses: { receiver: 'gelf-tcp' } },
  build: (name) => fromReceiver(name),
});

export function fromReceiver(name: string): Condition {
  const folded = name.toLowerCase();
  return {
    text: `it came through the receiver ${JSON.stringify(name)}`,
    field: 'receiver',
    children: [],
    requirements: [],
    test: (_document, context) => context.receiver === name || context.receiver.toLowerCase() === folded,
  };
}
