import { Type } from 'typebox';
import { defineAction } from './define.js';

export const drop = defineAction({
  name: 'drop',
  description: 'Ends the rules for this message: it is stored nowhere, sent to no output, and counted.',
  schema: Type.Literal(true, { description: 'Throw the message away.' }),
  example: { then: [{ drop: true }], before: { message: 'noise' }, after: undefined },
  build: () => ({ text: 'drop', run: (target) => target.drop() }),
});
