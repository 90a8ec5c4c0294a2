import type { Rotation } from './contract.js';

export const rotationByCount: Rotation<{ readonly max_documents: number }> = {
  type: 'count',
  due: (settings, facts) => facts.documents >= settings.max_documents,
};
