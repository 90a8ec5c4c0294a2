/** HTTP to a destination: one request at a time over a kept connection; its answer is the proof. */
import { Agent, request, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { at } from '../../../core/at.js';
import { errorText, isSluiceError, toError } from '../../../core/errors.js';
import type { GelfOutputSettings } from '../../../schemas/outputs/gelf.js';
import type { Connection, Link, Parcel, WriteAnswer } from '../contract.js';
import { outputErrors } from '../errors.js';
import { createOpener, type TcpLinkOptions } from './tcp.js';
import { readSecret } from './tls.js';

export interface HttpLinkOptions extends TcpLinkOptions {
  readonly gelf: Pick<GelfOutputSettings, 'path' | 'token' | 'compression'>;
}

/** An answer is at most a list of what was refused. */
const maxAnswerBytes = 64 * 1024;
/** The request itself is what the destination will never take; everything else may pass later. */
const refusing = new Set([400, 413, 415, 422]);

export function createHttpLink(options: HttpLinkOptions): Link {
  const { address, open } = createOpener(options);
  return {
    address,
    async connect(signal) {
      const token = await readSecret(options.gelf.token, options.files);
      return new HttpConnection(options, { address, token }, () => open(signal), await open(signal));
    },
  };
}

/** Hands out the one socket that is open; `http.request` gives it back when the answer has been read. */
class OneSocketAgent extends Agent {
  next: Socket | undefined;

  override createConnection(): Duplex {
    const socket = this.next;
    this.next = undefined;
    if (socket === undefined) throw new Error('no connection');
    return socket;
  }
}

interface Answer {
  readonly status: number;
  readonly body: string;
}

class HttpConnection implements Connection {
  readonly broken: Promise<Error>;
  readonly #options: HttpLinkOptions;
  readonly #address: string;
  readonly #headers: Record<string, string>;
  readonly #reopen: () => Promise<Socket>;
  readonly #agent = new OneSocketAgent({ keepAlive: true, maxSockets: 1 });
  #socket: Socket;
  #stopped = false;

  constructor(
    options: HttpLinkOptions,
    { address, token }: { readonly address: string; readonly token: string },
    reopen: () => Promise<Socket>,
    socket: Socket,
  ) {
    const { host, port, gelf, tls } = options;
    this.#options = options;
    this.#address = address;
    this.#reopen = reopen;
    this.#socket = socket;
    this.#adopt(socket);
    this.broken = new Promise(() => undefined);
    const usual = tls.enabled ? 443 : 80;
    this.#headers = {
      host: `${host.includes(':') ? `[${host}]` : host}${port === usual ? '' : `:${port}`}`,
      'content-type': 'application/json',
      ...(gelf.compression === 'gzip' ? { 'content-encoding': 'gzip' } : {}),
      ...(token === '' ? {} : { authorization: `Bearer ${token}` }),
    };
  }

  #adopt(socket: Socket): void {
    this.#socket = socket;
    this.#agent.next = socket;
    socket.on('error', () => undefined);
  }

  async write({ parts }: Parcel): Promise<WriteAnswer> {
    const { status, body } = await this.#post(joined(parts));
    if (status >= 200 && status < 300)
      return { answered: true, refused: refusedAmong(body, parts.length), reason: undefined };
    if (!refusing.has(status)) throw this.#answered(status, body);
    if (parts.length === 1) return { answered: true, refused: 1, reason: this.#answered(status, body).message };
    // One that the destination cannot take must not hold or take with it the others.
    let refused = 0;
    let reason: string | undefined;
    for (const part of parts) {
      const single = await this.#post(part);
      if (refusing.has(single.status)) {
        refused += 1;
        reason = this.#answered(single.status, single.body).message;
      } else if (single.status < 200 || single.status >= 300) throw this.#answered(single.status, single.body);
    }
    return { answered: true, refused, reason };
  }

  #answered(status: number, body: string): Error {
    return outputErrors.create('OUTPUT_ANSWER', {
      place: this.#address,
      got: `${status}${body === '' ? '' : ` ${body.slice(0, 200).replace(/\s+/g, ' ')}`}`,
    });
  }

  async #post(message: Buffer): Promise<Answer> {
    if (this.#stopped) throw outputErrors.create('OUTPUT_STOPPED', { place: this.#address });
    // The destination may close after an answer; that is no failure.
    if (this.#socket.destroyed || !this.#socket.writable) this.#adopt(await this.#reopen());
    const body = this.#options.gelf.compression === 'gzip' ? gzipSync(message) : message;
    try {
      return await this.#exchange(body);
    } catch (error) {
      this.#socket.destroy();
      if (isSluiceError(error)) throw error;
      throw outputErrors.create('OUTPUT_CLOSED', { place: this.#address, got: errorText(error), cause: error });
    }
  }

  #exchange(body: Buffer): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        posting.destroy();
        reject(
          outputErrors.create('OUTPUT_TIMED_OUT', {
            place: this.#address,
            got: `no answer within ${this.#options.writeTimeoutMs} ms`,
          }),
        );
      }, this.#options.writeTimeoutMs);
      const settle = (answer: Answer | undefined, error?: unknown): void => {
        clearTimeout(timer);
        if (answer === undefined) reject(toError(error));
        else resolve(answer);
      };
      const posting = request(
        {
          agent: this.#agent,
          method: 'POST',
          path: this.#options.gelf.path,
          headers: { ...this.#headers, 'content-length': body.length },
        },
        (response) => void readAnswer(response).then(settle, (error: unknown) => settle(undefined, error)),
      );
      posting.on('error', (error) => settle(undefined, error));
      posting.end(body);
    });
  }

  unacknowledged(): undefined {
    return undefined;
  }

  async finish(): Promise<boolean> {
    return false;
  }

  destroy(): void {
    this.#stopped = true;
    this.#socket.destroy();
    this.#agent.destroy();
  }
}

function joined(parts: readonly Buffer[]): Buffer {
  if (parts.length === 1) return at(parts, 0);
  return Buffer.concat(parts.flatMap((part, at) => (at === 0 ? [part] : [newline, part])));
}

const newline = Buffer.from('\n');

async function readAnswer(response: IncomingMessage): Promise<Answer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    if (bytes < maxAnswerBytes) chunks.push(chunk);
    bytes += chunk.length;
  }
  return { status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString('utf8') };
}

/** A Sluice on the other side lists what it refused of a request; others say nothing. */
function refusedAmong(body: string, messages: number): number {
  if (!body.includes('"refused"')) return 0;
  try {
    const { refused } = JSON.parse(body) as { refused?: unknown };
    const count = Array.isArray(refused) ? refused.length : typeof refused === 'number' ? refused : 0;
    return Math.min(messages, count);
  } catch {
    return 0;
  }
}
