/** Pipelines: stages of rules, as text in Graylog's language. List, read, check, create, change, delete. */
import { Type } from 'typebox';
import { pipelineIdsOf, titleOf } from '../../../../definitions/graylog/contract.js';
import type { ApiServer } from '../../contract.js';
import { failure } from '../../failure.js';
import { storing } from '../../objects/changing.js';
import { idFromTitle } from '../../objects/id-from-title.js';
import {
  connect,
  objectOf,
  objectsOf,
  pipelineAnswer,
  reading,
  showPipeline,
  sourceBody,
  type PipelinePorts,
} from '../../objects/rules/pipeline-shape.js';
import { nothing, objectId } from '../../objects/shapes.js';

const tags = ['Pipelines'];
const base = '/api/system/pipelines/pipeline';
const params = Type.Object({ pipelineId: objectId('Pipeline.') });
const kind = 'pipelines';

export function pipelineRoutes(app: ApiServer, services: PipelinePorts): void {
  const pipelines = createPipelineContext(services);
  addList(app, pipelines);
  addRead(app, pipelines);
  addCreate(app, pipelines);
  addChange(app, pipelines);
  addDelete(app, pipelines);
  addCheck(app, pipelines);
}

type PipelineContext = ReturnType<typeof createPipelineContext>;

/** What the routes share. */
function createPipelineContext(services: PipelinePorts) {
  const { definitions } = services;
  const pipelineOf = (name: string) => objectOf(services, kind, 'pipeline', name);
  return { services, pipelineOf, definitions };
}

function addList(app: ApiServer, { services }: PipelineContext): void {
  app.get(
    base,
    {
      config: { permission: 'system:read' },
      schema: { summary: 'Pipelines', tags, response: { 200: Type.Array(pipelineAnswer) } },
    },
    async ({ identity }) => objectsOf(services, kind).map((pipeline) => showPipeline(services, pipeline, identity)),
  );
}

function addRead(app: ApiServer, { services, pipelineOf }: PipelineContext): void {
  app.get(
    `${base}/:pipelineId`,
    {
      config: { permission: 'system:read' },
      schema: { summary: 'One pipeline', tags, params, response: { 200: pipelineAnswer } },
    },
    async ({ params: { pipelineId }, identity }) => showPipeline(services, pipelineOf(pipelineId), identity),
  );
}

function addCreate(app: ApiServer, { definitions, services, pipelineOf }: PipelineContext): void {
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
      const objects = definitions.writer();
      const definition = takePipeline(services, request.body);
      if (objectsOf(services, kind).some((pipeline) => titleOf(pipeline) === definition.title))
        throw failure('API_EXISTS', `There is a pipeline ${JSON.stringify(definition.title)} already.`);
      const id = idFromTitle(definition.title, 'pipeline', (taken) => objects.wasUsed(kind, taken));
      await storing(() => objects.create(kind, id, { definition: { ...definition, id } }, request.identity.username));
      request.audited = { object: id };
      return showPipeline(services, pipelineOf(id), request.identity);
    },
  );
}

function addChange(app: ApiServer, { pipelineOf, services, definitions }: PipelineContext): void {
  app.put(
    `${base}/:pipelineId`,
    {
      config: { permission: 'rules:edit', audit: 'pipeline:update' },
      schema: { summary: 'Change a pipeline', tags, params, body: sourceBody, response: { 200: pipelineAnswer } },
    },
    async ({ params: { pipelineId }, body, identity }) => {
      const { id } = pipelineOf(pipelineId);
      const definition = takePipeline(services, body);
      await storing(() =>
        definitions
          .writer()
          .change(
            kind,
            id,
            (before) => ({ definition: { ...before?.definition, ...definition, id } }),
            identity.username,
          ),
      );
      return showPipeline(services, pipelineOf(id), identity);
    },
  );
}

function addDelete(app: ApiServer, { pipelineOf, services, definitions }: PipelineContext): void {
  app.delete(
    `${base}/:pipelineId`,
    {
      config: { permission: 'rules:edit', audit: 'pipeline:delete' },
      schema: { summary: 'Delete a pipeline and its connections', tags, params, response: { 204: nothing } },
    },
    async ({ params: { pipelineId }, identity }, reply) => {
      const { id } = pipelineOf(pipelineId);
      for (const connection of objectsOf(services, 'connections').filter((one) => pipelineIdsOf(one).includes(id)))
        await connect(
          services,
          connection.id,
          pipelineIdsOf(connection).filter((other) => other !== id),
          identity.username,
        );
      await storing(() => definitions.writer().remove(kind, id, identity.username));
      return reply.code(204).send(null);
    },
  );
}

function addCheck(app: ApiServer, { services }: PipelineContext): void {
  app.post(
    `${base}/parse`,
    {
      config: { permission: 'rules:edit', reads: true },
      schema: { summary: 'Check a pipeline', tags, body: sourceBody, response: { 200: pipelineAnswer } },
    },
    async ({ body }) => {
      const { title, description = '', source, stages } = takePipeline(services, body);
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
function takePipeline(
  ports: PipelinePorts,
  { description, source }: { readonly description?: string | null | undefined; readonly source: string },
) {
  const known = new Set(objectsOf(ports, 'pipeline-rules').map(titleOf));
  const { title, stages } = reading(() => ports.graylog.pipelines.readPipeline(source, known));
  if (title.trim() === '') throw failure('API_REQUEST_REFUSED', 'A pipeline needs a name.');
  return { title, ...(typeof description === 'string' ? { description } : {}), source, stages };
}
