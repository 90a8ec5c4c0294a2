import type { Retention } from './contract.js';

export const retentionByNone: Retention = { type: 'none', counts: () => false, action: undefined };
