import type { RotationSettings } from '../../../schemas/index-sets.js';
import type { Rotation, RotationFacts } from './contract.js';
import { rotationByCount } from './count.js';
import { rotationBySize } from './size.js';
import { rotationByTime } from './time.js';

type Rotations = { readonly [Type in RotationSettings['type']]: Rotation<Extract<RotationSettings, { type: Type }>> };

export const rotations: Rotations = { size: rotationBySize, count: rotationByCount, time: rotationByTime };

export function shouldRotate(settings: RotationSettings, facts: RotationFacts): boolean {
  return (rotations[settings.type] as Rotation<RotationSettings>).due(settings, facts);
}
