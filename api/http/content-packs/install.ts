/**
 * Makes what a content pack holds by asking this API for each, with the rights of who installs it: nothing is made in
 * another way.
 */
import type { FastifyRequest } from 'fastify';
import type { ApiServer } from '../contract.js';
import { isFailure } from '../failure.js';
import { entityTypes, type Making } from './entities.js';
import type { ContentPack, InstalledEntity, SkippedEntity } from './pack.js';
import { parametersOf, plainValue } from './values.js';

type Members = Readonly<Record<string, unknown>>;

interface Installed {
  readonly entities: readonly InstalledEntity[];
  readonly skipped: readonly SkippedEntity[];
}

interface Answer {
  readonly status: number;
  readonly body: Members;
}

type Asking = (method: 'POST' | 'DELETE', path: string, body?: Members) => Promise<Answer>;

/** As whoever made the request. */
export function askingAs(app: ApiServer, { headers, ip }: FastifyRequest): Asking {
  const passedOn = Object.fromEntries(
    ['authorization', 'cookie', 'x-requested-by', 'user-agent'].flatMap((name) =>
      headers[name] === undefined ? [] : [[name, headers[name]]],
    ),
  ) as Record<string, string>;
  return async (method, path, body) => {
    const answer = await app.inject({
      method,
      url: path,
      headers: { ...passedOn, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      remoteAddress: ip,
      ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
    });
    return { status: answer.statusCode, body: answer.body.startsWith('{') ? (JSON.parse(answer.body) as Members) : {} };
  };
}

const typeNames = [...entityTypes.keys()];
const placeOf = (name: string): number => (typeNames.includes(name) ? typeNames.indexOf(name) : typeNames.length);

export async function installPack(
  { entities, parameters }: ContentPack,
  given: Members,
  ask: Asking,
): Promise<Installed> {
  const values = parametersOf(parameters, given);
  const installed: InstalledEntity[] = [];
  const skipped: SkippedEntity[] = [];
  const made = new Map<string, string>();
  for (const {
    id,
    type: { name: type },
    data,
  } of [...entities].sort((left, right) => placeOf(left.type.name) - placeOf(right.type.name))) {
    const skip = (reason: string): void => void skipped.push({ entity_id: id, type, title: titleIn(data), reason });
    const making = entityTypes.get(type);
    if (making === undefined) {
      skip(`Entities of the type ${type} are nothing that Sluice has.`);
      continue;
    }
    try {
      const plain = plainValue(data, values) as Members;
      const { installed: done, problem } = await make(making(plain), ask, made);
      if (done !== undefined) {
        made.set(id, done.id);
        installed.push({ entity_id: id, type, title: titleIn(plain), ...done });
      }
      if (problem !== undefined) skip(problem);
    } catch (error) {
      if (!isFailure(error)) throw error;
      skip(error.message);
    }
  }
  return { entities: installed, skipped };
}

/** An object that was made without all that belongs to it is listed as installed and as skipped. */
async function make(
  { path, body, undo, then = [] }: Making,
  ask: Asking,
  made: ReadonlyMap<string, string>,
): Promise<{ readonly installed?: Pick<InstalledEntity, 'id' | 'path'>; readonly problem?: string }> {
  const first = await ask('POST', path, body);
  if (first.status >= 400) return { problem: reasonOf(first) };
  const { id: own, stream_id: stream } = first.body;
  let id = typeof own === 'string' ? own : typeof stream === 'string' ? stream : '';
  let place = undo(first.body);
  const problems: string[] = [];
  for (const next of then) {
    const request = next(first.body, made);
    if (request === undefined) continue;
    const answer = await ask('POST', request.path, request.body);
    if (answer.status >= 400) problems.push(`${request.path}: ${reasonOf(answer)}`);
    else if (request.path === '/api/views') {
      id = String(answer.body['id']);
      place = `/api/views/${id}`;
    }
  }
  return {
    ...(place === '' ? {} : { installed: { id, path: place } }),
    ...(problems.length === 0 ? {} : { problem: problems.join(' ') }),
  };
}

function reasonOf({ body }: Answer): string {
  const { message, validation_errors: errors } = body;
  return errors === undefined ? String(message) : `${String(message)} ${JSON.stringify(errors).slice(0, 1_000)}`;
}

function titleIn(data: Members): string {
  const title = data['title'] ?? data['name'];
  const plain = typeof title === 'object' && title !== null ? (title as Members)['@value'] : title;
  return typeof plain === 'string' ? plain : '';
}

interface Uninstalled {
  readonly removed: readonly InstalledEntity[];
  readonly failed: readonly (InstalledEntity & { readonly reason: string })[];
}

/** What is gone already counts as removed. */
export async function uninstall(entities: readonly InstalledEntity[], ask: Asking): Promise<Uninstalled> {
  const removed: InstalledEntity[] = [];
  const failed: (InstalledEntity & { readonly reason: string })[] = [];
  for (const entity of [...entities].reverse()) {
    const answer = await ask('DELETE', entity.path);
    if (answer.status < 400 || answer.status === 404) removed.push(entity);
    else failed.push({ ...entity, reason: reasonOf(answer) });
  }
  return { removed, failed };
}
