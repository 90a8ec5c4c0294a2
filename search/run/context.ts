/** What every kind of search needs. */
import type { PlanContext } from '../plan/plan.js';
import type { RunContext } from './turn.js';
import type { SearchableStore } from '../store.js';

export type SearchContext = PlanContext & RunContext & { readonly store: SearchableStore };
