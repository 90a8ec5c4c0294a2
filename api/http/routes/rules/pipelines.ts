/** Pipelines: stages of rules, as text in the language of peers. List, read, check, create, change, delete. */
import { Type } from 'typebox';
import { idFromTitle } from '../../../../definitions/names.js';
import { parsePipeline } from '../../../../definitions/graylog/pipeline-rules/parse-pipeline.js';
import { wrongAt } from '../../../../definitions/graylog/pipeline-rules/problem.js';
import { pipelineIdsOf, titleOf } from '../../../../definitions/graylog/pipelines.js';
import type { ApiServer } from '../../contract.js';
import { failure } from '../../failure.js';
import { storing } from '../../objects/changing.js';
import {
  connect,
  objectOf,
  objectsOf,
  pipelineAnswer,
  reading,
  showPipeline,
  sourceBody,
} from '../../objects/pipeline-shape.js';
import { nothing, objectId } from '../../objects/shapes.js';
import type { ApiServices } from '../../services.js';

const tags = ['Pipelines'];
const base = '/api/system/pipelines/pipeline';
const params = Type.Object({ pipelineId: objectId('Pipeline.') });
const kind = 'pipelines';
type World = ApiServices['sluice']['world'];

export function pipelineRoutes(app: ApiServer, services: ApiServices): void {
  const { world } = services.sluice;
  const pipelineOf = (name: string) => objectOf(world, kind, 'pipeline', name);

  app.get(
    base,
    {
      config: { permission: 'system:read' },
      schema: { summary: 'Pipelines', tags, response: { 200: Type.Array(pipelineAnswer) } },
    },
    async ({ identity }) => objectsOf(world, kind).map((pipeline) => showPipeline(world, pipeline, identity)),
  );

  app.get(
    `${base}/:pipelineId`,
    {
      config: { permission: 'system:read' },
      schema: { summary: 'One pipeline', tags, params, response: { 200: pipelineAnswer } },
    },
    async ({ params: { pipelineId }, identity }) => showPipeline(world, pipelineOf(pipelineId), identity),
  );

  app.post(
    base,
    {
      config: { permission: 'rules:edit', audit: 'pipeline:create' },
      schema: {
        summary: 'Create a pipeline; it takes effect when it is connected to a stream',
        tags,
        body: sourceBody,
        response: { 200: pipelineAnswer },
      },
    },
    async (request) => {
      const objects = world.objects();
      const definition = takePipeline(world, request.body);
      if (objectsOf(world, kind).some((pipeline) => titleOf(pipeline) === definition.title))
        throw failure('API_EXISTS', `There is a pipeline ${JSON.stringify(definition.title)} already.`);
      const id = idFromTitle(definition.title, 'pipeline', (taken) => objects.wasUsed(kind, taken));
      await storing(() => objects.create(kind, id, { definition: { ...definition, id } }, request.identity.username));
      request.audited = { object: id };
      return showPipeline(world, pipelineOf(id), request.identity);
    },
  );

  app.put(
    `${base}/:pipelineId`,
    {
      config: { permission: 'rules:edit', audit: 'pipeline:update' },
      schema: { summary: 'Change a pipeline', tags, params, body: sourceBody, response: { 200: pipelineAnswer } },
    },
    async ({ params: { pipelineId }, body, identity }) => {
      const { id } = pipelineOf(pipelineId);
      const definition = takePipeline(world, body);
      await storing(() =>
        world
          .objects()
          .change(
            kind,
            id,
            (before) => ({ definition: { ...before?.definition, ...definition, id } }),
            identity.username,
          ),
      );
      return showPipeline(world, pipelineOf(id), identity);
    },
  );

  app.delete(
    `${base}/:pipelineId`,
    {
      config: { permission: 'rules:edit', audit: 'pipeline:delete' },
      schema: { summary: 'Delete a pipeline and its connections', tags, params, response: { 204: nothing } },
    },
    async ({ params: { pipelineId }, identity }, reply) => {
      const { id } = pipelineOf(pipelineId);
      for (const connection of objectsOf(world, 'connections').filter((one) => pipelineIdsOf(one).includes(id)))
        await connect(
          world,
          connection.id,
          pipelineIdsOf(connection).filter((other) => other !== id),
          identity.username,
        );
      await storing(() => world.objects().remove(kind, id, identity.username));
      return reply.code(204).send(null);
    },
  );

  app.post(
    `${base}/parse`,
    {
      config: { permission: 'rules:edit', reads: true },
      schema: { summary: 'Check a pipeline', tags, body: sourceBody, response: { 200: pipelineAnswer } },
    },
    async ({ body }) => {
      const { title, description = '', source, stages } = takePipeline(world, body);
      return {
        id: null,
        name: '',
        title,
        description,
        source,
        created_at: null,
        modified_at: null,
        errors: null,
        stages: stages.map(({ stage, match, rules }) => ({
          stage,
          match: match.toUpperCase() as 'ALL',
          rules: [...rules],
        })),
        connected_streams: [],
        in_force: false,
        reason: 'It was only checked.',
      };
    },
  );
}

/** A rule that is not there is refused: nobody would notice that it is missing. */
export function takePipeline(
  world: World,
  { description, source }: { readonly description?: string | null | undefined; readonly source: string },
) {
  const known = new Set(objectsOf(world, 'pipeline-rules').map(titleOf));
  const { name: title, stages } = reading(() => {
    const parsed = parsePipeline(source);
    const missing = parsed.stages.flatMap(({ rules }) => rules).find(({ name }) => !known.has(name));
    if (missing !== undefined)
      throw wrongAt(missing, `There is no pipeline rule ${JSON.stringify(missing.name)}; create it first.`);
    return parsed;
  });
  if (title.trim() === '') throw failure('API_REQUEST_REFUSED', 'A pipeline needs a name.');
  return {
    title,
    ...(typeof description === 'string' ? { description } : {}),
    source,
    stages: stages.map(({ stage, match, rules }) => ({ stage, match, rules: rules.map(({ name }) => name) })),
  };
}
