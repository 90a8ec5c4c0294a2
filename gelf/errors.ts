/** Why a text is no acceptable GELF message. */
import { defineErrors } from '../core/errors.js';

const refuse = <const Summary extends string>(summary: Summary) => ({ retryable: false, summary }) as const;

export const gelfErrors = defineErrors(
  {
    DECODE_EMPTY: refuse('The message is empty.'),
    DECODE_JSON_INVALID: refuse('The message is not valid JSON.'),
    DECODE_JSON_TOO_DEEP: refuse('The JSON is nested too deeply.'),
    DECODE_ROOT_NOT_OBJECT: refuse('The JSON is not an object: GELF messages are objects.'),
    DECODE_HOST_INVALID: refuse('The field host is there but is not a text with something in it.'),
    DECODE_MESSAGE_MISSING: refuse('Neither short_message nor message is there.'),
    DECODE_MESSAGE_INVALID: refuse("The message's text is not a JSON string."),
    DECODE_MESSAGE_BLANK: refuse("The message's text is blank."),
  },
  { stacks: false },
);
