/** The API as clients ask it: sessions of real users, answers read whole and checked. */
import { Agent, request } from 'node:http';

interface Answer {
  readonly status: number;
  readonly text: string;
}

interface ApiRequest {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
}

export interface Api {
  /** As this user; the session was opened before. */
  call(user: string, method: string, path: string, body?: unknown): Promise<Answer>;
  /** The answer piece by piece, as fast as they are taken. */
  stream(user: string, request: ApiRequest, onPiece: (piece: Buffer) => void): Promise<number>;
  readonly users: readonly string[];
}

export async function createApi(port: number, passwords: Readonly<Record<string, string>>): Promise<Api> {
  const agent = new Agent({ keepAlive: true, maxSockets: 500 });
  const keys = new Map<string, string>();
  const stream = (
    authorization: string | undefined,
    { method, path, body }: ApiRequest,
    onPiece: (piece: Buffer) => void,
  ): Promise<number> =>
    new Promise((resolve, reject) => {
      const text = body === undefined ? undefined : JSON.stringify(body);
      const headers = {
        ...(authorization === undefined ? {} : { authorization }),
        'x-requested-by': 'bench',
        ...(text === undefined
          ? {}
          : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
      };
      const asked = request({ host: '127.0.0.1', port, method, path, agent, headers }, (answer) => {
        answer.on('data', onPiece);
        answer.once('end', () => resolve(answer.statusCode ?? 0));
        answer.once('error', reject);
        answer.once('aborted', () => reject(new Error('the answer broke off')));
      });
      asked.once('error', reject);
      asked.end(text);
    });
  const call = async (
    authorization: string | undefined,
    method: string,
    path: string,
    body?: unknown,
  ): Promise<Answer> => {
    const pieces: Buffer[] = [];
    const status = await stream(authorization, { method, path, body }, (piece) => pieces.push(piece));
    return { status, text: Buffer.concat(pieces).toString() };
  };
  const basic = (name: string, password: string): string =>
    `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;
  for (const [username, password] of Object.entries(passwords)) {
    const { status, text } = await call(undefined, 'POST', '/api/system/sessions', { username, password, host: '' });
    if (status !== 200) throw new Error(`${username} cannot log in: ${status} ${text}`);
    keys.set(username, basic((JSON.parse(text) as { session_id: string }).session_id, 'session'));
  }
  const keyOf = (user: string): string => keys.get(user) ?? '';
  return {
    call: (user, method, path, body) => call(keyOf(user), method, path, body),
    stream: (user, asked, onPiece) => stream(keyOf(user), asked, onPiece),
    users: Object.keys(passwords),
  };
}
