/** Why bytes did not become a message: framing, chunks, inflation. */
import { defineErrors } from '../core/errors.js';

const refuse = <const Summary extends string>(summary: Summary) => ({ retryable: false, summary }) as const;

export const receiverErrors = defineErrors(
  {
    FRAME_TOO_LARGE: refuse(
      "The frame is larger than allowed and was skipped up to its delimiter. Check the sender's delimiter, or raise max_frame_bytes.",
    ),

    CHUNK_HEADER_SHORT: refuse(
      'The datagram begins like a GELF chunk but is shorter than the 12 bytes of a chunk header.',
    ),
    CHUNK_COUNT_INVALID: refuse('The chunk announces a number of chunks that GELF does not allow.'),
    CHUNK_NUMBER_INVALID: refuse("The chunk's number is not below its count of chunks."),
    CHUNK_COUNT_MISMATCH: refuse('The chunk announces another count of chunks than the chunks of its set before it.'),
    CHUNK_ID_REUSED: refuse(
      'The sender uses one chunk set id for two messages at the same time: this chunk belongs to another message than the set that waits.',
    ),
    CHUNK_SET_EXPIRED: refuse(
      'A chunked message never became complete: datagrams were lost or never sent. Lower the rate or use TCP.',
    ),
    CHUNK_SET_EVICTED: refuse(
      'An incomplete chunked message gave way to newer ones. Raise max_chunk_sets or max_chunk_bytes, or find who floods the port.',
    ),
    CHUNK_NESTED: refuse('The joined chunks are a chunk themselves.'),

    INFLATED_TOO_LARGE: {
      ...refuse('The message is larger than allowed after inflation. Raise max_inflated_bytes when it is meant to be.'),
      status: 413,
    },
    INFLATE_TRUNCATED: refuse('The compressed message ends too early: bytes were lost on the way.'),
    INFLATE_CORRUPT: refuse(
      'The compressed message is damaged: not a valid gzip or zlib stream, or its checksum does not match.',
    ),
    INFLATE_MEMBERS_TOO_MANY: refuse('The compressed message consists of too many gzip members.'),
    INFLATE_UNSUPPORTED: refuse(
      'The message is neither JSON, gzip, zlib nor a GELF chunk. Set the sender to gzip, zlib or no compression.',
    ),
  },
  { stacks: false },
);
