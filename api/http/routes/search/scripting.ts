/** Messages and aggregations as tables, for scripts. */
import type { ApiServer } from '../../contract.js';
import type { ApiServices } from '../../services.js';
import { searchAggregate, searchAggregateByQuery } from './scripting-aggregate.js';
import { searchMessages, searchMessagesByQuery } from './scripting-messages.js';

export function scriptingRoutes(app: ApiServer, services: ApiServices): void {
  searchMessages(app, services);
  searchMessagesByQuery(app, services);
  searchAggregate(app, services);
  searchAggregateByQuery(app, services);
}
