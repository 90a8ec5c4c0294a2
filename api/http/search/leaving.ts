/** What is asked for ends with who asked for it. */
import type { FastifyReply } from 'fastify';

/** Aborts when the connection closes before the answer was sent. */
export function whenLeaving(reply: FastifyReply): AbortSignal {
  const leaving = new AbortController();
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) leaving.abort();
  });
  return leaving.signal;
}
