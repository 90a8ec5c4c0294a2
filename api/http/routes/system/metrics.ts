/** Metrics of this process, and how many messages it stores. */
import { Type } from 'typebox';
import { deadLetterSet } from '../../../../schemas/index-sets.js';
import type { ApiServer } from '../../contract.js';
import { countsAll } from '../../objects/index-sets/index-counts.js';
import { nullable } from '../../objects/shapes.js';
import { thisProcess } from '../../objects/this-process.js';
import type { ApiServices } from '../../services.js';

const tags = ['System'];

export function metricRoutes(
  app: ApiServer,
  services: Pick<ApiServices, 'config' | 'monitoring' | 'outputs' | 'processing' | 'registry'>,
): void {
  addMetrics(app, services);
  addThroughput(app, services);
}

function addMetrics(
  app: ApiServer,
  { outputs, processing, registry }: Pick<ApiServices, 'outputs' | 'processing' | 'registry'>,
): void {
  app.get(
    '/api/metrics/prometheus',
    {
      config: {
        permission: 'system:read',
        checks: 'of single streams, rules, outputs and index sets: reading of every message, or `index-sets:edit`',
        produces: ['text/plain', 'application/json'],
      },
      schema: {
        summary: 'Metrics of this process in Prometheus text format',
        description:
          'Without those of single streams, rules, outputs and index sets for who may not read every message.',
        tags,
        response: { 200: Type.String() },
      },
    },
    async ({ identity }, reply) => {
      await processing.collect();
      await outputs.collect();
      const metrics = await registry.metrics();
      return reply
        .type(registry.contentType)
        .serializer(String)
        .send(countsAll(identity, deadLetterSet) ? metrics : withoutCountsOfParts(metrics));
    },
  );
}

function addThroughput(app: ApiServer, { config, monitoring }: Pick<ApiServices, 'config' | 'monitoring'>): void {
  const { startedAt } = thisProcess(config);

  app.get(
    '/api/system/throughput',
    {
      config: { permission: 'system:read' },
      schema: {
        summary: 'Messages stored since this process started',
        tags,
        response: {
          200: Type.Object({ throughput: Type.Number(), stored: Type.Integer(), since: nullable(Type.String()) }),
        },
      },
    },
    async () => {
      const { stored } = await monitoring.counts();
      return { throughput: Math.round((stored / Math.max(1, process.uptime())) * 10) / 10, stored, since: startedAt };
    },
  );
}

/** They count messages that may not be read: of Audit logs, of single streams. */
function withoutCountsOfParts(metrics: string): string {
  return metrics
    .split('\n')
    .filter(
      (line) =>
        !/[{,](?:stream|rule|index_set|output)="|receiver="audit"|topic="(?![^"]*logs")|^sluice_dead_letters/.test(
          line,
        ),
    )
    .join('\n');
}
