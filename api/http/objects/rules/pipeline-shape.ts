/** Pipelines, their rules and connections as the API shows and takes them. */
import { Type, type Static } from 'typebox';
import { isSluiceError } from '../../../../core/errors.js';
import { apiIdOf, findId } from '../../../../core/object-ids.js';
import type { StoredDefinition } from '../../../../definitions/contract.js';
import {
  longestText,
  pipelineIdsOf,
  stagesOf,
  textProblemsOf,
  titleOf,
} from '../../../../definitions/graylog/contract.js';
import { mayReadStream, type Identity } from '../../../../schemas/access.js';
import { failure } from '../../failure.js';
import type { ApiServices } from '../../services.js';
import { found, storing } from '../changing.js';
import { routesToHidden, showActions } from '../streams/hidden-streams.js';
import { nullable, textOf } from '../shapes.js';

export const sourceBody = Type.Object(
  {
    title: Type.Optional(
      nullable(Type.String({ maxLength: 200, description: 'Taken; the name stands in the source.' })),
    ),
    description: Type.Optional(nullable(Type.String({ maxLength: 2_000 }))),
    source: Type.String({
      minLength: 1,
      maxLength: longestText,
      description: 'Text in the rule language of peers; the supported part: docs/deployments.md.',
    }),
  },
  { description: 'A pipeline, or a rule of pipelines, as its text.' },
);

const settings = Type.Unsafe<Readonly<Record<string, unknown>>>({
  type: 'object',
  additionalProperties: true,
  description: 'As in rule files.',
});
const common = {
  id: nullable(Type.String()),
  name: Type.String({ description: 'The id as Sluice knows it.' }),
  title: Type.String(),
  description: Type.String(),
  source: Type.String({
    description: 'As it was given; empty of a rule that routes to a stream that the asker may not read.',
  }),
  created_at: nullable(Type.String()),
  modified_at: nullable(Type.String()),
  errors: Type.Null({ description: 'A text with errors is refused.' }),
};
const inForce = {
  in_force: Type.Boolean({ description: 'Whether messages meet it now.' }),
  reason: Type.String({ description: 'Why, in words.' }),
};

export const pipelineRuleAnswer = Type.Object(
  {
    ...common,
    ...inForce,
    used_by: Type.Array(Type.String(), { description: 'Titles of pipelines that name it.' }),
    when: settings,
    then: Type.Array(settings),
    simulator_message: Type.Null(),
  },
  { description: 'A rule of pipelines, with what it comes to here.' },
);

export const pipelineAnswer = Type.Object(
  {
    ...common,
    ...inForce,
    stages: Type.Array(
      Type.Object({
        stage: Type.Integer(),
        match: Type.Enum(['ALL', 'EITHER', 'PASS']),
        rules: Type.Array(Type.String()),
      }),
    ),
    connected_streams: Type.Array(Type.String(), { description: 'Ids of streams.' }),
  },
  { description: 'A pipeline.' },
);

export const connectionAnswer = Type.Object(
  {
    id: Type.String(),
    stream_id: Type.String(),
    stream: Type.String({ description: 'The id as rule files know it.' }),
    pipeline_ids: Type.Array(Type.String()),
  },
  { description: 'Pipelines of a stream.' },
);

/** What resources of pipelines work with. */
export type PipelinePorts = Pick<ApiServices, 'definitions' | 'graylog'>;

/** Mistakes in a text become an answer that lists them with their places. */
export function reading<Result>(read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    if (!isSluiceError(error) || error.code !== 'OBJECT_TEXT_INVALID') throw error;
    const errors = textProblemsOf(error).map(({ line, column, message }) => ({
      type: 'parse_error',
      line,
      position_in_line: column,
      reason: message,
    }));
    const [first] = errors;
    throw failure(
      'API_VALUE_INVALID',
      `${first?.line ?? 1}:${first?.position_in_line ?? 1}: ${first?.reason ?? error.message}`,
      {
        body: { code: error.code, errors },
      },
    );
  }
}

export const objectsOf = (ports: PipelinePorts, kind: StoredDefinition['kind']): readonly StoredDefinition[] =>
  ports.definitions.stored().filter((object) => object.kind === kind);

export function objectOf(
  ports: PipelinePorts,
  kind: StoredDefinition['kind'],
  what: string,
  name: string,
): StoredDefinition {
  const objects = objectsOf(ports, kind);
  const id = findId(
    objects.map((object) => object.id),
    name,
  );
  return found(
    what,
    objects.find((object) => object.id === id),
  );
}

export function usersOf(ports: PipelinePorts, rule: StoredDefinition): readonly string[] {
  return objectsOf(ports, 'pipelines')
    .filter((pipeline) => stagesOf(pipeline).some(({ rules }) => rules.includes(titleOf(rule))))
    .map(titleOf);
}

function commonOf(object: StoredDefinition) {
  const { id, definition, created_at: createdAt, changed_at: changedAt } = object;
  return {
    id: apiIdOf(id),
    name: id,
    title: titleOf(object),
    description: textOf(definition['description']),
    source: textOf(definition['source']),
    created_at: createdAt,
    modified_at: changedAt,
    errors: null,
  };
}

/** The text and the description may name the stream in words of their own: where it is hidden, neither is shown. */
export function showPipelineRule(
  ports: PipelinePorts,
  rule: StoredDefinition,
  identity: Identity,
): Static<typeof pipelineRuleAnswer> {
  const usedBy = usersOf(ports, rule);
  const running = ports.graylog.pipelines
    .rulesOf(ports.definitions.stored())
    .some(({ of }) => of.kind === rule.kind && of.id === rule.id);
  const leftOut = ports.definitions.leftOut('pipeline-rules').some(({ id }) => id === rule.id);
  const connected = objectsOf(ports, 'pipelines').some(
    (pipeline) => usedBy.includes(titleOf(pipeline)) && streamsOf(ports, pipeline).length > 0,
  );
  const reason = leftOut
    ? 'It does not fit the other rules at the moment, see the log.'
    : usedBy.length === 0
      ? 'No pipeline names it.'
      : connected
        ? 'A pipeline that is connected to a stream names it.'
        : 'No pipeline that names it is connected to a stream.';
  const { when, then } = rule.definition as {
    readonly when: Readonly<Record<string, unknown>>;
    readonly then: readonly Readonly<Record<string, unknown>>[];
  };
  const hidden = routesToHidden(then, identity) ? { source: '', description: '' } : {};
  return {
    ...commonOf(rule),
    ...hidden,
    used_by: [...usedBy],
    when,
    then: showActions(then, identity),
    in_force: !leftOut && (running || connected),
    reason,
    simulator_message: null,
  };
}

const streamsOf = (ports: PipelinePorts, pipeline: StoredDefinition): readonly string[] =>
  objectsOf(ports, 'connections')
    .filter((connection) => pipelineIdsOf(connection).includes(pipeline.id))
    .map(({ id }) => id);

/** A stream that the asker may not read is not named. */
export function showPipeline(
  ports: PipelinePorts,
  pipeline: StoredDefinition,
  { scope }: Identity,
): Static<typeof pipelineAnswer> {
  const streams = streamsOf(ports, pipeline);
  const stages = stagesOf(pipeline).map(({ stage, match, rules }) => ({
    stage,
    match: match.toUpperCase() as 'ALL',
    rules: [...rules],
  }));
  return {
    ...commonOf(pipeline),
    stages,
    connected_streams: streams.filter((id) => mayReadStream(scope, id)).map(apiIdOf),
    in_force: streams.length > 0,
    reason: streams.length > 0 ? 'It is connected to a stream.' : 'It is connected to no stream.',
  };
}

export function showConnection(
  ports: PipelinePorts,
  { id, definition }: Pick<StoredDefinition, 'id' | 'definition'>,
): Static<typeof connectionAnswer> {
  const pipelines = new Set(objectsOf(ports, 'pipelines').map((pipeline) => pipeline.id));
  return {
    id: apiIdOf(id),
    stream_id: apiIdOf(id),
    stream: id,
    pipeline_ids: pipelineIdsOf({ definition })
      .filter((pipeline) => pipelines.has(pipeline))
      .map(apiIdOf),
  };
}

/** Nothing where the last one goes. */
export async function connect(
  ports: PipelinePorts,
  stream: string,
  pipelines: readonly string[],
  by: string,
): Promise<void> {
  const known = ports.definitions.writer().find('connections', stream);
  if (known === undefined && pipelines.length === 0) return;
  await storing(() =>
    ports.definitions
      .writer()
      .change('connections', stream, () => ({ definition: { id: stream, pipelines: [...new Set(pipelines)] } }), by),
  );
}
