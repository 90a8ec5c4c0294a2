import type { Rotation } from './contract.js';

export const rotationBySize: Rotation<{ readonly max_bytes: number }> = {
  type: 'size',
  due: (settings, facts) => facts.documents > 0 && facts.bytes >= settings.max_bytes,
};
