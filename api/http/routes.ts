/** Every resource of the API, one line each. A resource is a file in `routes/` that registers its routes on the server. */
import { apiBrowserRoutes } from './routes/api-browser.js';
import { authenticationRoutes } from './routes/authentication.js';
import { roleRoutes } from './routes/roles.js';
import { exportRoutes } from './routes/export.js';
import { messageRoutes } from './routes/messages.js';
import { rootRoutes } from './routes/root.js';
import { sessionRoutes } from './routes/sessions.js';
import { tokenRoutes } from './routes/tokens.js';
import { userRoutes } from './routes/users.js';
import { scriptingRoutes } from './routes/scripting.js';
import { searchValidateRoutes } from './routes/search-validate.js';
import { suggestRoutes } from './routes/suggest.js';
import { tailRoutes } from './routes/tail.js';
import { universalRoutes } from './routes/universal.js';
import { viewsSearchRoutes } from './routes/views-search.js';
import { viewsRoutes } from './routes/views.js';
import { contentPackRoutes } from './routes/content-packs.js';
import { deadLetterRoutes } from './routes/dead-letters.js';
import { extractorRoutes } from './routes/extractors.js';
import { grokPatternRoutes } from './routes/grok-patterns.js';
import { indexSetRoutes } from './routes/index-sets.js';
import { indexerRoutes } from './routes/indexer.js';
import { obfuscationPluginRoutes } from './routes/obfuscation-plugin.js';
import { obfuscationRoutes } from './routes/obfuscation.js';
import { outputRoutes } from './routes/outputs.js';
import { pipelineConnectionRoutes } from './routes/pipeline-connections.js';
import { pipelineRuleRoutes } from './routes/pipeline-rules.js';
import { pipelineRoutes } from './routes/pipelines.js';
import { receiverRoutes } from './routes/receivers.js';
import { ruleRoutes } from './routes/rules.js';
import { streamRuleRoutes } from './routes/stream-rules.js';
import { streamTryRoutes } from './routes/stream-dry-runs.js';
import { streamRoutes } from './routes/streams.js';
import { systemRoutes } from './routes/system.js';
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
  streamTryRoutes,
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
  apiBrowserRoutes,
];
