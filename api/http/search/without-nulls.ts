/**
 * Clients write members that they do not set as null: those count as not given, in a search and its parts and in a
 * view, and nowhere below.
 */
import type { FastifyRequest } from 'fastify';

type Members = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The same for each object in the list at this member. */
function within(body: Members, member: string, change: (part: unknown) => unknown): Members {
  const list = body[member];
  return Array.isArray(list) ? { ...body, [member]: (list as readonly unknown[]).map(change) } : body;
}

function given(body: Members): Members {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null));
}

function searchGiven(body: unknown): unknown {
  if (!isObject(body)) return body;
  return within(given(body), 'queries', (query) =>
    isObject(query) ? within(given(query), 'search_types', (type) => (isObject(type) ? given(type) : type)) : query,
  );
}

function viewGiven(body: unknown): unknown {
  if (!isObject(body)) return body;
  const { entity } = body;
  return isObject(entity) ? { ...given(body), entity: given(entity) } : given(body);
}

/** Hooks of routes, before the body is checked. */
export const searchWithoutNulls = async (request: FastifyRequest): Promise<void> => {
  request.body = searchGiven(request.body);
};

export const viewWithoutNulls = async (request: FastifyRequest): Promise<void> => {
  request.body = viewGiven(request.body);
};
