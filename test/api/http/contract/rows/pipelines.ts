/** Graylog pipeline rules, pipelines and their connections. */
import type { ContractRow } from './row.js';

const source = 'rule "Red"\nwhen\n  has_field("app")\nthen\n  set_field("team", "red");\nend';
const stages = 'pipeline "Teams"\nstage 0 match either\nrule "Red"\nend';

export const pipelinesRows: readonly ContractRow[] = [
  ['GET', '/api/system/pipelines/rule', 200],
  ['POST', '/api/system/pipelines/rule', 200, { source }, { keep: { pipelineRule: 'id' } }],
  ['POST', '/api/system/pipelines/rule', 400, { source: 'rule' }],
  ['GET', '/api/system/pipelines/rule/{pipelineRule}', 200],
  ['GET', '/api/system/pipelines/rule/none', 404],
  ['PUT', '/api/system/pipelines/rule/{pipelineRule}', 200, { source }],
  ['PUT', '/api/system/pipelines/rule/{pipelineRule}', 400, { source: 'x' }],
  ['PUT', '/api/system/pipelines/rule/none', 404, { source }],
  ['POST', '/api/system/pipelines/rule/parse', 200, { source }],
  ['POST', '/api/system/pipelines/rule/parse', 400, { source: 'x' }],
  ['GET', '/api/system/pipelines/pipeline', 200],
  ['POST', '/api/system/pipelines/pipeline', 200, { source: stages }, { keep: { pipeline: 'id' } }],
  ['POST', '/api/system/pipelines/pipeline', 400, { source: 'x' }],
  ['GET', '/api/system/pipelines/pipeline/{pipeline}', 200],
  ['GET', '/api/system/pipelines/pipeline/none', 404],
  ['PUT', '/api/system/pipelines/pipeline/{pipeline}', 200, { source: stages }],
  ['PUT', '/api/system/pipelines/pipeline/{pipeline}', 400, { source: 'x' }],
  ['PUT', '/api/system/pipelines/pipeline/none', 404, { source: stages }],
  ['POST', '/api/system/pipelines/pipeline/parse', 200, { source: stages }],
  ['POST', '/api/system/pipelines/pipeline/parse', 400, { source: 'x' }],
  [
    'POST',
    '/api/system/pipelines/connections/to_stream',
    200,
    { stream_id: 'all-messages', pipeline_ids: ['{pipeline}'] },
  ],
  ['POST', '/api/system/pipelines/connections/to_stream', 404, { stream_id: 'none', pipeline_ids: [] }],
  ['POST', '/api/system/pipelines/connections/to_stream', 400, {}],
  ['GET', '/api/system/pipelines/connections', 200],
  ['GET', '/api/system/pipelines/connections/all-messages', 200],
  ['GET', '/api/system/pipelines/connections/none', 404],
  ['POST', '/api/system/pipelines/connections/to_pipeline', 200, { pipeline_id: '{pipeline}', stream_ids: [] }],
  ['POST', '/api/system/pipelines/connections/to_pipeline', 404, { pipeline_id: 'none', stream_ids: [] }],
  ['DELETE', '/api/system/pipelines/rule/{pipelineRule}', 409],
  ['DELETE', '/api/system/pipelines/pipeline/{pipeline}', 204],
  ['DELETE', '/api/system/pipelines/pipeline/{pipeline}', 404],
  ['DELETE', '/api/system/pipelines/rule/{pipelineRule}', 204],
  ['DELETE', '/api/system/pipelines/rule/{pipelineRule}', 404],
];
