import type { Retention } from './contract.js';

/** A closed index has been retained as it was meant to be: only open ones count. */
export const retentionByClose: Retention = { type: 'close', counts: (index) => index.open, action: 'close' };
