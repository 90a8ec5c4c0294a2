/** A deployer's script: what is there by its title is changed, what is not is made. */
import type { Test } from 'tap';

export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly body: Record<string, unknown>;
}

export interface Deployer {
  send(method: string, path: string, body: unknown, wanted: readonly number[]): Promise<Answer>;
  listed(path: string, key?: string): Promise<readonly Record<string, unknown>[]>;
  put(
    path: string,
    title: string,
    body: unknown,
    created: readonly number[],
    changed: readonly number[],
    key?: string,
  ): Promise<string>;
  readonly round: 'first' | 'second';
}

type Call = (method: string, path: string, body?: unknown) => Promise<Answer>;

export function createDeployer(t: Test, call: Call): Omit<Deployer, 'round'> {
  const send = async (method: string, path: string, body: unknown, wanted: readonly number[]): Promise<Answer> => {
    const answer = await call(method, path, body);
    t.ok(wanted.includes(answer.status), `${method} ${path}: ${answer.status} ${answer.text.slice(0, 500)}`);
    return answer;
  };
  const listed = async (path: string, key?: string): Promise<readonly Record<string, unknown>[]> => {
    const { text } = await send('GET', path, undefined, [200]);
    const body = JSON.parse(text) as unknown;
    return (key === undefined ? body : (body as Record<string, unknown>)[key]) as readonly Record<string, unknown>[];
  };
  /** As deployers do: what is there by its title is changed, what is not is made. */
  const put: Deployer['put'] = async (path, title, body, created, changed, key) => {
    const known = (await listed(path, key)).find((one) => one['title'] === title);
    const answer =
      known === undefined
        ? await send('POST', path, body, created)
        : await send('PUT', `${path}/${String(known['id'])}`, body, changed);
    return String(known?.['id'] ?? answer.body['id'] ?? answer.body['stream_id'] ?? answer.body['extractor_id']);
  };
  return { send, listed, put };
}
