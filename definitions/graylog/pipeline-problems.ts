/** What must fit among pipelines, their rules and their connections, beyond what the rules themselves say. */
import type { FieldProblem } from '../contract.js';
import type { StoredDefinition, StoredDefinitions } from '../stored.js';
import { pipelineIdsOf, stagesOf, titleOf } from './contract.js';
import { connectedStreams } from './pipelines.js';

/** `stored` has the definition as it is to be. */
export function pipelineProblems(
  object: Pick<StoredDefinition, 'kind' | 'id' | 'definition'>,
  stored: StoredDefinitions,
): readonly FieldProblem[] {
  switch (object.kind) {
    case 'pipeline-rules':
    case 'pipelines': {
      const same = stored.some(
        (other) => other.kind === object.kind && other.id !== object.id && titleOf(other) === titleOf(object),
      );
      const taken = same
        ? [{ field: 'title', message: `Another one is called ${JSON.stringify(titleOf(object))}.` }]
        : [];
      return [
        ...taken,
        ...(object.kind === 'pipelines' ? missingRules(object, stored) : []),
        ...circleProblems(stored),
      ];
    }
    case 'connections':
      return [...missingPipelines(object, stored), ...circleProblems(stored)];
    default:
      return [];
  }
}

function missingRules(
  pipeline: Pick<StoredDefinition, 'definition'>,
  stored: StoredDefinitions,
): readonly FieldProblem[] {
  const titles = new Set(stored.filter(({ kind }) => kind === 'pipeline-rules').map(titleOf));
  const names = new Set(stagesOf(pipeline).flatMap(({ rules }) => rules));
  return [...names]
    .filter((name) => !titles.has(name))
    .map((name) => ({
      field: 'source',
      message: `There is no pipeline rule ${JSON.stringify(name)}; create it first.`,
    }));
}

function missingPipelines(
  connection: Pick<StoredDefinition, 'definition'>,
  stored: StoredDefinitions,
): readonly FieldProblem[] {
  const ids = new Set(stored.filter(({ kind }) => kind === 'pipelines').map(({ id }) => id));
  return pipelineIdsOf(connection)
    .filter((id) => !ids.has(id))
    .map((id) => ({ field: 'pipeline_ids', message: `There is no pipeline ${id}.` }));
}

function circleProblems(stored: StoredDefinitions): readonly FieldProblem[] {
  const { circle } = connectedStreams(stored);
  return circle.length === 0
    ? []
    : [
        {
          field: '',
          message: `The pipelines of ${circle.length} streams route to each other in a circle. This is not supported.`,
        },
      ];
}
