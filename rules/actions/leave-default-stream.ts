import { Type } from 'typebox';
import { defineAction } from './define.js';

export const leaveDefaultStream = defineAction({
  name: 'leave_default_stream',
  description:
    'Takes the message out of All messages, also for a stream that does not do so by its own setting. What no other stream would keep stays there; routing to `all-messages` keeps it as well.',
  schema: Type.Literal(true, { description: 'Leave All messages.' }),
  example: {
    then: [{ route: { stream: 'audit-logs' } }, { leave_default_stream: true }],
    before: { message: 'm' },
    after: { message: 'm' },
    streams: ['audit-logs'],
  },
  build: (_, place) => ({ text: 'leave All messages', run: (target) => target.route(place.leavesDefault) }),
});
