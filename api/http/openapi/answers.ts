/** What the description of the API says of answers: the media types of success, and which errors a route can give. */
import type { Permission } from '../contract.js';

type Members = Readonly<Record<string, unknown>>;

export interface DescribedRoute {
  readonly method: string;
  readonly url: string;
  readonly permission: Permission;
  readonly tags: readonly string[];
  readonly hasBody: boolean;
  readonly produces: readonly string[];
}

export const errorSchema = {
  type: 'object',
  required: ['type', 'message'],
  description: 'What went wrong; more members by kind.',
  properties: {
    type: { type: 'string', enum: ['ApiError', 'RequestError', 'ValidationApiError', 'MissingStreamPermission'] },
    message: { type: 'string' },
  },
};

const retryAfter = {
  'Retry-After': { description: 'Seconds after which to try again.', schema: { type: 'string', pattern: '^\\d+$' } },
};

const errors: Readonly<Record<string, { readonly description: string; readonly headers?: object }>> = {
  400: {
    description:
      'The request is wrong: `path` names the member, `validation_errors` the fields. Or its Authorization header is malformed, or a change has no X-Requested-By.',
  },
  401: { description: 'Credentials are missing or wrong.' },
  403: { description: 'Known, but not allowed.' },
  404: { description: 'Not there, or not to be seen.' },
  406: { description: 'No media type that the Accept header takes.' },
  413: { description: 'The body is larger than api.max_body_bytes.' },
  415: { description: 'The body is no JSON.' },
  '4XX': { description: 'The request cannot be answered so; 429: too much at once, see Retry-After.' },
  503: { description: 'Too much at once, or an engine is away; try again.', headers: retryAfter },
  504: { description: 'The search took longer than search.deadline_ms.' },
};

export const errorResponses: Members = Object.fromEntries(
  Object.entries(errors).map(([status, response]) => [
    `Error${status}`,
    { ...response, content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } } },
  ]),
);

/** Tags of routes that search, and so have its deadline. */
const searching: ReadonlySet<string> = new Set(['Search', 'Scripting', 'Messages', 'Export']);

/** Errors of a route by status; what it describes itself goes before. */
export function errorsOf({ url, permission, tags, hasBody }: DescribedRoute): Members {
  const statuses = [
    '400',
    ...(permission === 'public' ? [] : ['401']),
    ...(permission === 'public' || permission === 'authenticated' ? [] : ['403']),
    ...(url.includes(':') ? ['404'] : []),
    '406',
    ...(hasBody ? ['413', '415'] : []),
    '4XX',
    '503',
    ...(tags.some((tag) => searching.has(tag)) ? ['504'] : []),
  ];
  return Object.fromEntries(statuses.map((status) => [status, { $ref: `#/components/responses/Error${status}` }]));
}

/** What the route itself says of its answers, with a description and each media type that comes. */
export function answersOf(
  response: Readonly<Record<string, Members>>,
  summary: string,
  produces: readonly string[],
): Members {
  return Object.fromEntries(
    Object.entries(response).map(([status, answer]) => {
      const description = typeof answer['description'] === 'string' ? answer['description'] : `${summary}.`;
      if (answer['type'] === 'null') return [status, { ...answer, description }];
      return [status, { description, content: answer['content'] ?? mediaOf(answer, produces) }];
    }),
  );
}

function mediaOf(schema: Members, produces: readonly string[]): Members {
  const texts = produces.filter((type) => !/json/.test(type));
  if (schema['type'] === 'string' && texts.length > 0)
    return Object.fromEntries(texts.map((type) => [type, { schema }]));
  return Object.fromEntries(
    produces.map((type) => [type, { schema: /json/.test(type) ? schema : { type: 'string' } }]),
  );
}
