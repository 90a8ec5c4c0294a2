/** What the program is made of: the lists of its ports. A test hands in lists of its own. */
import { createSettings, type Settings } from '../config/settings.js';
import type { ReceiverKind } from '../receivers/define.js';
import { receiverKinds } from '../receivers/registry.js';

export interface Kinds {
  readonly receivers: readonly ReceiverKind[];
  /** Settings with those of these kinds in them. */
  readonly settings: Settings;
}

export function composeKinds(parts: Omit<Kinds, 'settings'>): Kinds {
  return { ...parts, settings: createSettings(parts) };
}

export const registeredKinds: Kinds = composeKinds({ receivers: receiverKinds });
