/**
 * Every resource of the API, one line each. A resource is a file in `routes/<subject>/` that registers its routes on
 * the server.
 */
import { apiBrowserRoutes } from './routes/system/api-browser.js';
import { authenticationRoutes } from './routes/access/authentication.js';
import { roleRoutes } from './routes/access/roles.js';
import { exportRoutes } from './routes/search/export.js';
import { messageRoutes } from './routes/search/messages.js';
import { rootRoutes } from './routes/system/root.js';
import { sessionRoutes } from './routes/access/sessions.js';
import { tokenRoutes } from './routes/access/tokens.js';
import { userRoutes } from './routes/access/users.js';
import { scriptingRoutes } from './routes/search/scripting.js';
import { searchValidateRoutes } from './routes/search/search-validate.js';
import { suggestRoutes } from './routes/search/suggest.js';
import { tailRoutes } from './routes/search/tail.js';
import { universalRoutes } from './routes/search/universal.js';
import { viewsSearchRoutes } from './routes/search/views-search.js';
import { viewsRoutes } from './routes/search/views.js';
import { contentPackRoutes } from './routes/definitions/content-packs.js';
import { deadLetterRoutes } from './routes/system/dead-letters.js';
import { extractorRoutes } from './routes/definitions/extractors.js';
import { grokPatternRoutes } from './routes/rules/grok-patterns.js';
import { indexSetRoutes } from './routes/definitions/index-sets.js';
import { indexerRoutes } from './routes/system/indexer.js';
import { obfuscationPluginRoutes } from './routes/rules/obfuscation-plugin.js';
import { obfuscationRoutes } from './routes/rules/obfuscation.js';
import { outputRoutes } from './routes/definitions/outputs.js';
import { pipelineConnectionRoutes } from './routes/rules/pipeline-connections.js';
import { pipelineRuleRoutes } from './routes/rules/pipeline-rules.js';
import { pipelineRoutes } from './routes/rules/pipelines.js';
import { receiverRoutes } from './routes/definitions/receivers.js';
import { ruleRoutes } from './routes/rules/rules.js';
import { streamRuleRoutes } from './routes/definitions/stream-rules.js';
import { streamDryRunRoutes } from './routes/definitions/stream-dry-runs.js';
import { streamRoutes } from './routes/definitions/streams.js';
import { journalRoutes } from './routes/system/journal.js';
import { metricRoutes } from './routes/system/metrics.js';
import { notificationRoutes } from './routes/system/notifications.js';
import { systemRoutes } from './routes/system/system.js';
import type { ApiRoutes } from './services.js';

export const apiRoutes: readonly ApiRoutes[] = [
  rootRoutes,
  sessionRoutes,
  userRoutes,
  tokenRoutes,
  roleRoutes,
  authenticationRoutes,
  viewsSearchRoutes,
  viewsRoutes,
  searchValidateRoutes,
  suggestRoutes,
  universalRoutes,
  scriptingRoutes,
  exportRoutes,
  tailRoutes,
  messageRoutes,
  streamRoutes,
  streamRuleRoutes,
  streamDryRunRoutes,
  ruleRoutes,
  pipelineRuleRoutes,
  pipelineRoutes,
  pipelineConnectionRoutes,
  extractorRoutes,
  grokPatternRoutes,
  contentPackRoutes,
  indexSetRoutes,
  indexerRoutes,
  outputRoutes,
  receiverRoutes,
  deadLetterRoutes,
  obfuscationRoutes,
  obfuscationPluginRoutes,
  systemRoutes,
  journalRoutes,
  notificationRoutes,
  metricRoutes,
  apiBrowserRoutes,
];
