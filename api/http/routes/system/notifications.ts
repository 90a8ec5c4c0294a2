/** What this process has warned of lately, and what is left out of the rules. */
import { Type } from 'typebox';
import type { ApiServer } from '../../contract.js';
import { thisProcess } from '../../objects/this-process.js';
import type { ApiServices } from '../../services.js';

const tags = ['System'];
const notification = Type.Object({
  type: Type.String(),
  severity: Type.String(),
  timestamp: Type.String(),
  node_id: Type.String(),
  details: Type.Object({
    text: Type.String(),
    count: Type.Optional(Type.Integer({ description: 'How often it was warned of.' })),
    since: Type.Optional(Type.String({ description: 'When it was warned of first; timestamp is the last time.' })),
  }),
});

export function notificationRoutes(
  app: ApiServer,
  { config, definitions, monitoring }: Pick<ApiServices, 'config' | 'definitions' | 'monitoring'>,
): void {
  const { nodeId, startedAt } = thisProcess(config);

  app.get(
    '/api/system/notifications',
    {
      config: { permission: 'system:read' },
      schema: {
        summary: 'What this process has warned of lately, and objects left out of the rules',
        tags,
        response: { 200: Type.Object({ total: Type.Integer(), notifications: Type.Array(notification) }) },
      },
    },
    async () => {
      const warned = monitoring.problems().map(({ text, level, time, count, since }) => ({
        type: 'warning',
        severity: level === 'warn' ? 'normal' : 'urgent',
        timestamp: time,
        node_id: nodeId,
        details: { text, count, since },
      }));
      const catalog = await definitions.catalog();
      const leftOut = (['streams', 'rules', 'index-sets', 'outputs'] as const).flatMap((kind) =>
        catalog
          .list(kind)
          .filter(({ problem }) => problem !== undefined)
          .map(({ id, problem, stored }) => ({
            type: 'object_left_out',
            severity: 'urgent',
            timestamp: stored?.changed_at ?? startedAt,
            node_id: nodeId,
            details: { text: `${kind} ${id}: ${problem ?? ''}` },
          })),
      );
      return { total: warned.length + leftOut.length, notifications: [...leftOut, ...warned] };
    },
  );
}
