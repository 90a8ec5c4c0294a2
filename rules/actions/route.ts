import { Type } from 'typebox';
import { defineAction, nothing } from './define.js';

export const route = defineAction({
  name: 'route',
  description:
    'Adds the message to a stream. Whether it leaves All messages is a setting of the stream; a stream that is not enabled takes nothing.',
  schema: Type.Object(
    { stream: Type.String({ description: 'Id of the stream.', minLength: 1 }) },
    { additionalProperties: false, description: 'Add to a stream.' },
  ),
  example: {
    then: [{ route: { stream: 'audit-logs' } }],
    before: { message: 'm' },
    after: { message: 'm' },
    streams: ['audit-logs'],
  },
  build: ({ stream }, place) => {
    const number = place.stream(stream, place.at('stream'));
    return number === undefined ? nothing : { text: `route to ${stream}`, run: (target) => target.route(number) };
  },
});
