import type { Retention } from './contract.js';

export const retentionByDelete: Retention = { type: 'delete', counts: () => true, action: 'delete' };
