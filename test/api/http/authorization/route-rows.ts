/**
 * Every route of the API: which permission it declares, and what of stored messages its answers may hold. A route that
 * is not in here fails the matrix.
 */
import type { Permission } from '../../../../api/http/contract.js';

/**
 * `messages`: contents, names of fields or counts of what the asker may read. `letters`: dead letters. `numbers`:
 * counts of the system, which only those see who may read everything. `nothing`: no message, whoever asks.
 */
type Shows = 'messages' | 'letters' | 'numbers' | 'nothing';

export interface RouteRow {
  readonly permission: Permission;
  readonly shows: Shows;
}

type Rows = readonly (readonly [permission: Permission, shows: Shows, routes: readonly string[]])[];

const indexSets = '/api/system/indices/index_sets';
const indices = '/api/system/indexer/indices';
const outputs = '/api/system/outputs';
const inputs = '/api/system/inputs';
const states = '/api/system/inputstates';
const deadLetters = '/api/dead-letters';
const plugin = '/api/plugins/:plugin/obfuscation';
const stream = '/api/streams/:streamId';
const packs = '/api/system/content_packs';
const directory = '/api/system/authentication/ldap';

const rows: Rows = [
  [
    'public',
    'nothing',
    [
      'GET /',
      'GET /api',
      'GET /api/openapi.json',
      'GET /api/api-browser',
      'GET /api/api-browser/:file',
      'GET /api/system/lbstatus',
      'GET /api/system/sessions',
      'POST /api/system/sessions',
    ],
  ],
  [
    'authenticated',
    'messages',
    [
      'GET /api/search/universal/relative',
      'GET /api/search/universal/absolute',
      'GET /api/search/universal/keyword',
      'GET /api/search/universal/relative/export',
      'GET /api/search/universal/absolute/export',
      'GET /api/search/universal/keyword/export',
      'GET /api/search/messages',
      'POST /api/search/messages',
      'GET /api/search/aggregate',
      'POST /api/search/aggregate',
      'GET /api/search/tail',
      'POST /api/views/search/sync',
      'POST /api/views/search/:id/execute',
      'GET /api/views/search/status/:jobId',
      'POST /api/views/search/messages',
      'POST /api/views/search/messages/:searchId',
      'POST /api/views/search/messages/:searchId/:searchTypeId',
      'GET /api/messages/:index/:messageId',
      'GET /api/system/fields',
      'GET /api/views/fields',
      'POST /api/search/suggest',
    ],
  ],
  [
    'authenticated',
    'nothing',
    [
      'DELETE /api/system/sessions',
      'DELETE /api/system/sessions/:sessionId',
      'POST /api/views/search',
      'GET /api/views/search/:id',
      'POST /api/views/search/metadata',
      'DELETE /api/views/search/cancel/:jobId',
      'GET /api/views',
      'GET /api/views/:id',
      'GET /api/search/saved',
      'GET /api/dashboards',
      'POST /api/search/validate',
      'GET /api/exports',
      'DELETE /api/exports/:exportId',
      'GET /api/system',
      'GET /api/cluster',
      'GET /api/streams',
      'GET /api/streams/enabled',
      'GET /api/streams/paginated',
      'POST /api/streams/bulk_pause',
      'POST /api/streams/bulk_resume',
      'POST /api/streams/bulk_delete',
      'GET /api/roles',
      'GET /api/roles/:name',
      'GET /api/roles/:name/members',
      'GET /api/users',
      'GET /api/users/paginated',
      'GET /api/users/:username',
      'GET /api/users/id/:username',
      'PUT /api/users/:username',
      'PUT /api/users/:username/preferences',
      'PUT /api/users/:username/password',
      'GET /api/users/:username/tokens',
      'POST /api/users/:username/tokens/:token',
      'DELETE /api/users/:username/tokens/:token',
    ],
  ],
  ['views:edit', 'nothing', ['POST /api/views', 'PUT /api/views/:id', 'DELETE /api/views/:id']],
  [
    'system:read',
    'numbers',
    [
      `GET ${indexSets}`,
      `GET ${indexSets}/stats`,
      `GET ${indexSets}/:indexSetId/stats`,
      `GET ${indices}`,
      `GET ${indices}/open`,
      `GET ${indices}/closed`,
      `GET ${indices}/reopened`,
      'GET /api/metrics/prometheus',
    ],
  ],
  [
    'system:read',
    'nothing',
    [
      `GET ${indexSets}/:indexSetId`,
      'GET /api/system/indexer/cluster/health',
      'GET /api/system/indexer/cluster/name',
      `GET ${outputs}`,
      `GET ${outputs}/available`,
      `GET ${outputs}/:outputId`,
      `GET ${outputs}/:outputId/state`,
      `GET ${inputs}`,
      `GET ${inputs}/types`,
      `GET ${inputs}/:inputId`,
      `GET ${states}`,
      `GET ${states}/:inputId`,
      'GET /api/rules',
      'GET /api/rules/:ruleId',
      'GET /api/system/cluster/nodes',
      'GET /api/system/cluster/node',
      'GET /api/system/journal',
      'GET /api/system/notifications',
      'GET /api/system/throughput',
    ],
  ],
  ['stream:read', 'messages', [`POST ${stream}/try/history`]],
  [
    'stream:read',
    'nothing',
    [
      `GET ${stream}`,
      `GET ${stream}/rules`,
      `GET ${stream}/rules/types`,
      `GET ${stream}/rules/:ruleId`,
      `GET ${stream}/outputs`,
      `POST ${stream}/testMatch`,
    ],
  ],
  [
    'stream:edit',
    'nothing',
    [
      `PUT ${stream}`,
      `DELETE ${stream}`,
      `POST ${stream}/resume`,
      `POST ${stream}/pause`,
      `POST ${stream}/rules`,
      `PUT ${stream}/rules/:ruleId`,
      `DELETE ${stream}/rules/:ruleId`,
      `POST ${stream}/outputs`,
      `DELETE ${stream}/outputs/:outputId`,
    ],
  ],
  ['streams:create', 'messages', ['POST /api/streams/try/history']],
  ['streams:create', 'nothing', ['POST /api/streams', `POST ${stream}/clone`]],
  ['rules:edit', 'messages', ['POST /api/rules/try/history']],
  [
    'rules:edit',
    'nothing',
    [
      'POST /api/rules',
      'PUT /api/rules/:ruleId',
      'DELETE /api/rules/:ruleId',
      'POST /api/rules/:ruleId/try',
      'POST /api/rules/try',
    ],
  ],
  [
    'system:read',
    'nothing',
    [
      'GET /api/system/pipelines/rule',
      'GET /api/system/pipelines/rule/:ruleId',
      'GET /api/system/pipelines/pipeline',
      'GET /api/system/pipelines/pipeline/:pipelineId',
      'GET /api/system/pipelines/connections',
      'GET /api/system/pipelines/connections/:streamId',
      `GET ${inputs}/:inputId/extractors`,
      `GET ${inputs}/:inputId/extractors/:extractorId`,
      'GET /api/system/grok',
      'GET /api/system/grok/:patternId',
    ],
  ],
  [
    'rules:edit',
    'nothing',
    [
      'POST /api/system/pipelines/rule',
      'PUT /api/system/pipelines/rule/:ruleId',
      'DELETE /api/system/pipelines/rule/:ruleId',
      'POST /api/system/pipelines/rule/parse',
      'POST /api/system/pipelines/pipeline',
      'PUT /api/system/pipelines/pipeline/:pipelineId',
      'DELETE /api/system/pipelines/pipeline/:pipelineId',
      'POST /api/system/pipelines/pipeline/parse',
      'POST /api/system/pipelines/connections/to_stream',
      'POST /api/system/pipelines/connections/to_pipeline',
      'POST /api/system/grok',
      'PUT /api/system/grok',
      'POST /api/system/grok/test',
      'PUT /api/system/grok/:patternId',
      'DELETE /api/system/grok/:patternId',
    ],
  ],
  [
    'index-sets:edit',
    'nothing',
    [
      `POST ${indexSets}`,
      `PUT ${indexSets}/:indexSetId`,
      `DELETE ${indexSets}/:indexSetId`,
      'POST /api/system/deflector/:indexSetId/cycle',
      `POST ${indices}/:index/close`,
      `POST ${indices}/:index/reopen`,
      `DELETE ${indices}/:index`,
    ],
  ],
  [
    'outputs:edit',
    'nothing',
    [
      `POST ${outputs}`,
      `PUT ${outputs}/:outputId`,
      `DELETE ${outputs}/:outputId`,
      `POST ${outputs}/:outputId/resume`,
      `POST ${outputs}/:outputId/pause`,
    ],
  ],
  [
    'receivers:edit',
    'nothing',
    [
      `POST ${inputs}`,
      `PUT ${inputs}/:inputId`,
      `DELETE ${inputs}/:inputId`,
      `PUT ${states}/:inputId`,
      `DELETE ${states}/:inputId`,
    ],
  ],
  [
    'receivers:edit',
    'nothing',
    [
      `POST ${inputs}/:inputId/extractors`,
      `POST ${inputs}/:inputId/extractors/order`,
      `PUT ${inputs}/:inputId/extractors/:extractorId`,
      `DELETE ${inputs}/:inputId/extractors/:extractorId`,
    ],
  ],
  [
    'obfuscation:edit',
    'nothing',
    [
      'GET /api/system/obfuscation',
      'PUT /api/system/obfuscation',
      'DELETE /api/system/obfuscation',
      'POST /api/system/obfuscation/try',
      `GET ${plugin}/configuration`,
      `POST ${plugin}/configuration`,
      `GET ${plugin}/replacers`,
      `POST ${plugin}`,
      `PUT ${plugin}/configuration/reset`,
      `PUT ${plugin}/configuration/restore`,
      `PUT ${plugin}/configuration/sync`,
      `POST ${plugin}/regex/compile/test`,
    ],
  ],
  [
    'authentication:edit',
    'nothing',
    [`GET ${directory}`, `POST ${directory}/test-connection`, `POST ${directory}/test-login`],
  ],
  [
    'users:edit',
    'nothing',
    [
      'POST /api/users',
      'PUT /api/users/:username/status/:status',
      'DELETE /api/users/:username',
      'DELETE /api/users/id/:username',
      'PUT /api/roles/:name/members/:username',
      'DELETE /api/roles/:name/members/:username',
    ],
  ],
  ['roles:edit', 'nothing', ['POST /api/roles', 'PUT /api/roles/:name', 'DELETE /api/roles/:name']],
  [
    'dead-letters',
    'letters',
    [
      `GET ${deadLetters}`,
      `GET ${deadLetters}/:letterId`,
      'GET /api/system/indexer/failures',
      'GET /api/system/indexer/failures/count',
    ],
  ],
  [
    'dead-letters',
    'nothing',
    [
      `POST ${deadLetters}/replay`,
      `POST ${deadLetters}/drop`,
      `GET ${deadLetters}/jobs`,
      `GET ${deadLetters}/jobs/:jobId`,
      `DELETE ${deadLetters}/jobs/:jobId`,
    ],
  ],
  ['administrator', 'nothing', [`PUT ${directory}`, 'PUT /api/system/lbstatus/override/:status']],
  [
    'administrator',
    'nothing',
    [
      `GET ${packs}`,
      `GET ${packs}/latest`,
      `GET ${packs}/:packId`,
      `GET ${packs}/:packId/:revision`,
      `POST ${packs}`,
      `DELETE ${packs}/:packId`,
      `DELETE ${packs}/:packId/:revision`,
      `GET ${packs}/:packId/installations`,
      `POST ${packs}/:packId/:revision/installations`,
      `DELETE ${packs}/:packId/installations/:installationId`,
    ],
  ],
];

/** By `METHOD /path`. */
export const routeRows: ReadonlyMap<string, RouteRow> = new Map(
  rows.flatMap(([permission, shows, routes]) => routes.map((route) => [route, { permission, shows }] as const)),
);
