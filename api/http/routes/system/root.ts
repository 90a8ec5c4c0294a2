/** What answers at the base address. */
import { Type } from 'typebox';
import { packageVersion } from '../../../../core/process/package-root.js';
import type { ApiServer } from '../../contract.js';

const page =
  '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>Sluice</title></head><body><h1>Sluice</h1><p><a href="/api/api-browser">The API</a></p></body></html>\n';

export function rootRoutes(app: ApiServer): void {
  app.get(
    '/',
    {
      config: { permission: 'public', produces: ['text/html', 'application/json'] },
      schema: {
        summary: 'Where to go from here',
        tags: ['System'],
        response: { 200: { content: { 'text/html': { schema: Type.String() } } } },
      },
    },
    async (_, reply) => reply.type('text/html; charset=utf-8').send(page),
  );

  app.get(
    '/api',
    {
      config: { permission: 'public' },
      schema: {
        summary: 'Name and version',
        tags: ['System'],
        response: {
          200: Type.Object({
            cluster_id: Type.String(),
            node_id: Type.String(),
            version: Type.String(),
            tagline: Type.String(),
          }),
        },
      },
    },
    async () => ({
      cluster_id: 'sluice',
      node_id: 'sluice',
      version: packageVersion,
      tagline: 'Sluice, a log platform',
    }),
  );
}
