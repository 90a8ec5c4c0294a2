/** Asks a running program over its control socket. */
import { request, type IncomingMessage } from 'node:http';
import { toldError, type ToldError } from '../../core/process/told-error.js';
import { apiErrors } from '../errors.js';

export interface ControlClient {
  request(method: string, path: string, body?: unknown): Promise<unknown>;
  /** Posts, and hands on the lines of the streamed answer, one value each. Resolves early when the signal comes. */
  stream(
    path: string,
    body: unknown,
    onLine: (value: unknown) => void | Promise<void>,
    signal?: AbortSignal,
  ): Promise<void>;
}

/** With a time limit, a request that takes longer fails as one that nobody answers. */
export function createControlClient(socketPath: string, timeLimitMs?: number): ControlClient {
  return {
    async request(method, path, body) {
      const response = await call({ socketPath, method, path, timeLimitMs }, body);
      const text = await textOf(response);
      const answer: unknown = text === '' ? undefined : JSON.parse(text);
      if (response.statusCode !== 200) throw toldError(answer as ToldError);
      return answer;
    },
    async stream(path, body, onLine, signal) {
      const response = await call({ socketPath, method: 'POST', path }, body);
      if (response.statusCode !== 200) throw toldError(JSON.parse(await textOf(response)) as ToldError);
      const end = (): void => void response.destroy();
      signal?.addEventListener('abort', end);
      let rest = '';
      response.setEncoding('utf8');
      try {
        for await (const chunk of response) {
          const lines = (rest + (chunk as string)).split('\n');
          rest = lines.pop() ?? '';
          for (const text of lines) if (signal?.aborted !== true) await onLine(JSON.parse(text));
        }
      } catch (error) {
        if (signal?.aborted === true) return;
        throw error;
      } finally {
        signal?.removeEventListener('abort', end);
      }
      if (signal?.aborted === true) return;
      if (rest !== '') throw apiErrors.create('API_NOT_RUNNING', { got: 'an answer that broke off' });
    },
  };
}

interface Call {
  readonly socketPath: string;
  readonly method: string;
  readonly path: string;
  readonly timeLimitMs?: number | undefined;
}

function call({ socketPath, method, path, timeLimitMs }: Call, body: unknown): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const limit = timeLimitMs === undefined ? {} : { signal: AbortSignal.timeout(timeLimitMs) };
    const outgoing = request(
      { socketPath, method, path, headers: { 'content-type': 'application/json' }, ...limit },
      resolve,
    );
    outgoing.on('error', (error) => reject(apiErrors.create('API_NOT_RUNNING', { place: socketPath, cause: error })));
    outgoing.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

async function textOf(response: IncomingMessage): Promise<string> {
  response.setEncoding('utf8');
  let text = '';
  for await (const chunk of response) text += chunk as string;
  return text;
}
