/** What answers at the base address. */
import { Type } from 'typebox';
import { packageVersion } from '../../../core/package-root.js';
import type { ApiServer } from '../contract.js';

export function rootRoutes(app: ApiServer): void {
  app.get('/api', {
    config: { permission: 'public' },
    schema: {
      summary: 'Name and version', tags: ['System'],
      response: { 200: Type.Object({ cluster_id: Type.String(), node_id: Type.String(), version: Type.String(), tagline: Type.String() }) },
    },
  }, async () => ({ cluster_id: 'sluice', node_id: 'sluice', version: packageVersion, tagline: 'Sluice, a log platform' }));
}
