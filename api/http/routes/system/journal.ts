/** Messages between receivers and the store. */
import { Type } from 'typebox';
import type { ApiServer } from '../../contract.js';
import type { ApiServices } from '../../services.js';

const tags = ['System'];
const journal = Type.Object(
  {
    enabled: Type.Boolean(),
    uncommitted_journal_entries: Type.Integer({ description: 'Messages accepted and not yet stored.' }),
    oldest_unprocessed_seconds: Type.Number(),
    received: Type.Integer(),
    appended: Type.Integer(),
    stored: Type.Integer(),
    dead_lettered: Type.Integer(),
    refused: Type.Integer(),
    shed: Type.Integer({ description: 'Dropped of UDP, because the pipeline was full.' }),
    writable: Type.Boolean(),
    reason: Type.String(),
  },
  { description: 'What stands between receivers and the store; counts since this process started.' },
);

export function journalRoutes(
  app: ApiServer,
  { health, monitoring, processing }: Pick<ApiServices, 'health' | 'monitoring' | 'processing'>,
): void {
  app.get(
    '/api/system/journal',
    {
      config: { permission: 'system:read' },
      schema: { summary: 'Messages between receivers and the store', tags, response: { 200: journal } },
    },
    async () => {
      await processing.collect();
      const { received, appended, stored, dead_lettered: deadLettered, refused, shed } = await monitoring.counts();
      const { ok, reason } = health.writable();
      return {
        enabled: true,
        uncommitted_journal_entries: await processing.lag(),
        oldest_unprocessed_seconds: await monitoring.oldestUnprocessed(),
        received,
        appended,
        stored,
        dead_lettered: deadLettered,
        refused,
        shed,
        writable: ok,
        reason,
      };
    },
  );
}
