/** One request over a real connection, sent byte for byte as it is given. */
import { Agent, request } from 'node:http';
import { gunzipSync, inflateSync } from 'node:zlib';
import type { Answer } from './described.js';

export interface Sent {
  readonly method: string;
  /** As it stands in the request line. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Buffer | undefined;
}

export interface Asker {
  ask(sent: Sent): Promise<Answer>;
  close(): void;
}

/** Slow machines included; what takes longer hangs. */
const waitMostMs = 60_000;

/**
 * An event stream is left after its first bytes. Rejects when the connection ends without a whole answer, or none
 * comes.
 */
export function createAsker(port: number): Asker {
  const agent = new Agent({ keepAlive: true });
  return {
    close: () => {
      agent.destroy();
    },
    ask: ({ method, path, headers, body }) =>
      new Promise((resolve, reject) => {
        const sending = request(
          {
            host: '127.0.0.1',
            port,
            agent,
            method,
            path,
            headers: {
              ...headers,
              ...(body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }),
            },
          },
          (answer) => {
            const parts: Buffer[] = [];
            const end = (): void => {
              clearTimeout(timer);
              resolve({
                status: answer.statusCode ?? 0,
                headers: answer.headers,
                body: inflated(Buffer.concat(parts), answer.headers['content-encoding']).toString(),
              });
            };
            answer
              .on('data', (part: Buffer) => {
                parts.push(part);
                if (!String(answer.headers['content-type']).startsWith('text/event-stream')) return;
                end();
                answer.destroy();
              })
              .on('end', end)
              .on('error', failed);
          },
        );
        const failed = (error: Error): void => {
          clearTimeout(timer);
          reject(error);
        };
        const timer = setTimeout(() => sending.destroy(new Error(`no answer within ${waitMostMs} ms`)), waitMostMs);
        sending.on('error', failed);
        sending.end(body);
      }),
  };
}

function inflated(body: Buffer, encoding: string | undefined): Buffer {
  if (body.length === 0) return body;
  return encoding === 'gzip' ? gunzipSync(body) : encoding === 'deflate' ? inflateSync(body) : body;
}
