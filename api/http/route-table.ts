/**
 * Every route that was registered: checks that each says all that it must, and finds what else a path could be asked.
 */
import type { RouteOptions } from 'fastify';
import { apiErrors } from '../errors.js';

export interface RouteFacts {
  readonly method: string;
  readonly url: string;
  readonly permission: string | undefined;
  readonly checks: string | undefined;
  readonly summary: string;
  readonly audit: string | undefined;
  readonly hasBody: boolean;
  readonly hasResponse: boolean;
  readonly hidden: boolean;
}

export interface RouteTable {
  readonly routes: readonly RouteFacts[];
  add(route: RouteOptions): void;
  /** Methods that this path takes. */
  methodsOf(path: string): readonly string[];
}

const changing = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);

export function createRouteTable(): RouteTable {
  const routes: (RouteFacts & { readonly pattern: RegExp })[] = [];
  return {
    routes,
    add({ method, url, config, schema }) {
      for (const one of [method].flat()) {
        const place = `${one} ${url}`;
        const problem = (got: string, allowed: string): Error =>
          apiErrors.create('API_ROUTE_INCOMPLETE', { place, got, allowed });
        if (config?.permission === undefined)
          throw problem('no permission', 'config.permission, as api/http/contract.ts lists them');
        if (changing.has(one) && config.audit === undefined && config.reads !== true)
          throw problem(
            'no audit name',
            'config.audit `<object>:<action>`, or reads: true of a POST that changes nothing',
          );
        if (schema?.response === undefined)
          throw problem('no response schema', 'schema.response with the statuses of success');
        if (url.includes(':') && schema.params === undefined)
          throw problem('no schema of its path parameters', 'schema.params');
        const hidden = (schema as { hide?: boolean }).hide === true;
        routes.push({
          method: one,
          url,
          permission: config.permission,
          checks: config.checks,
          summary: (schema as { summary?: string }).summary ?? '',
          audit: config.audit,
          hasBody: schema.body !== undefined,
          hasResponse: true,
          hidden,
          pattern: patternOf(url),
        });
      }
    },
    methodsOf: (path) =>
      [...new Set(routes.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method))].sort(),
  };
}

function patternOf(url: string): RegExp {
  const parts = url
    .split('/')
    .map((part) =>
      part.startsWith(':') ? '[^/]+' : part === '*' ? '.*' : part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'),
    );
  return new RegExp(`^${parts.join('/')}/?$`);
}
