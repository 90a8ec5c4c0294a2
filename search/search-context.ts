/** What every kind of search needs. */
import type { PlanContext } from './plan.js';
import type { RunContext } from './run.js';
import type { SearchableStore } from './store.js';

export type SearchContext = PlanContext & RunContext & { readonly store: SearchableStore };
