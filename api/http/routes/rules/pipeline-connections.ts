/** Which pipelines run for the messages of which streams. */
import { Type } from 'typebox';
import { apiIdOf } from '../../../../core/object-ids.js';
import { defaultStream, pipelineIdsOf } from '../../../../definitions/graylog/contract.js';
import { mayReadStream, type Identity } from '../../../../schemas/access.js';
import type { ApiServer } from '../../contract.js';
import { failure } from '../../failure.js';
import { found } from '../../objects/changing.js';
import {
  connect,
  connectionAnswer,
  objectOf,
  objectsOf,
  showConnection,
  type PipelinePorts,
} from '../../objects/rules/pipeline-shape.js';
import { listOf, objectId } from '../../objects/shapes.js';

const tags = ['Pipelines'];
const base = '/api/system/pipelines/connections';
const params = Type.Object({ streamId: objectId('Stream.') });
const ids = Type.Array(Type.String({ maxLength: 200 }), { maxItems: 1_000 });

export function pipelineConnectionRoutes(app: ApiServer, services: PipelinePorts): void {
  const connections = createConnectionContext(services);
  addList(app, connections);
  addRead(app, connections);
  addOfStream(app, connections);
  addOfPipeline(app, connections);
}

type ConnectionContext = ReturnType<typeof createConnectionContext>;

/** What the routes share. */
function createConnectionContext(services: PipelinePorts) {
  const { definitions } = services;
  const streamOf = async (name: string, { scope }: Identity) => {
    const stream = (await definitions.catalog()).find('streams', name);
    return found('stream', stream !== undefined && mayReadStream(scope, stream.id) ? stream : undefined);
  };
  const connectable = async (name: string, identity: Identity): Promise<string> => {
    const { id, settings } = await streamOf(name, identity);
    const filled = settings['when'] !== undefined || listOf(settings['rules']).length > 0;
    if (id !== defaultStream && filled)
      throw failure(
        'API_REQUEST_REFUSED',
        `The stream ${id} is filled by rules of its own, which are tested behind all pipelines. Connect the pipeline to the default stream, or to one that only pipeline rules route to.`,
      );
    return id;
  };
  const pipelineId = (name: string): string => objectOf(services, 'pipelines', 'pipeline', name).id;
  const shown = (id: string) =>
    showConnection(
      services,
      objectsOf(services, 'connections').find((connection) => connection.id === id) ?? { id, definition: {} },
    );
  return { definitions, services, shown, streamOf, connectable, pipelineId };
}

function addList(app: ApiServer, { definitions, services }: ConnectionContext): void {
  app.get(
    base,
    {
      config: { permission: 'system:read' },
      schema: {
        summary: 'Connections of streams and pipelines',
        tags,
        response: { 200: Type.Array(connectionAnswer) },
      },
    },
    async ({ identity }) => {
      const streams = new Set(
        (await definitions.catalog())
          .list('streams')
          .map(({ id }) => id)
          .filter((id) => mayReadStream(identity.scope, id)),
      );
      return objectsOf(services, 'connections')
        .filter(({ id }) => streams.has(id))
        .map((connection) => showConnection(services, connection));
    },
  );
}

function addRead(app: ApiServer, { shown, streamOf }: ConnectionContext): void {
  app.get(
    `${base}/:streamId`,
    {
      config: { permission: 'system:read' },
      schema: { summary: 'Pipelines of a stream', tags, params, response: { 200: connectionAnswer } },
    },
    async ({ params: { streamId }, identity }) => shown((await streamOf(streamId, identity)).id),
  );
}

function addOfStream(app: ApiServer, { connectable, services, pipelineId, shown }: ConnectionContext): void {
  app.post(
    `${base}/to_stream`,
    {
      config: { permission: 'rules:edit', audit: 'pipeline_connection:update' },
      schema: {
        summary: 'Say which pipelines run for the messages of a stream',
        tags,
        body: Type.Object({ stream_id: objectId('Stream.'), pipeline_ids: ids }),
        response: { 200: connectionAnswer },
      },
    },
    async (request) => {
      const { stream_id: stream, pipeline_ids: pipelines } = request.body;
      const id = await connectable(stream, request.identity);
      await connect(services, id, pipelines.map(pipelineId), request.identity.username);
      request.audited = { object: id, details: { pipelines } };
      return shown(id);
    },
  );
}

function addOfPipeline(app: ApiServer, { pipelineId, connectable, services, shown }: ConnectionContext): void {
  app.post(
    `${base}/to_pipeline`,
    {
      config: { permission: 'rules:edit', audit: 'pipeline_connection:update' },
      schema: {
        summary: 'Say for the messages of which streams a pipeline runs',
        tags,
        body: Type.Object({ pipeline_id: objectId('Pipeline.'), stream_ids: ids }),
        response: { 200: Type.Array(connectionAnswer) },
      },
    },
    async (request) => {
      const { pipeline_id: pipeline, stream_ids: names } = request.body;
      const id = pipelineId(pipeline);
      const wanted = await Promise.all(names.map((name) => connectable(name, request.identity)));
      // What the asker may not see stays as it is.
      const before = new Map(
        objectsOf(services, 'connections')
          .filter((connection) => mayReadStream(request.identity.scope, connection.id))
          .map((connection) => [connection.id, pipelineIdsOf(connection)]),
      );
      for (const stream of new Set([...before.keys(), ...wanted])) {
        const others = (before.get(stream) ?? []).filter((other) => other !== id);
        const after = wanted.includes(stream) ? [...others, id] : others;
        if (after.length !== (before.get(stream) ?? []).length)
          await connect(services, stream, after, request.identity.username);
      }
      request.audited = { object: id, details: { streams: names.map(apiIdOf) } };
      return wanted.map(shown);
    },
  );
}
