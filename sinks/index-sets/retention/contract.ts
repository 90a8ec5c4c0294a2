/** What becomes of the indices of a set that are over its limits. Pure. */
import type { RetentionSettings } from '../../../schemas/index-sets.js';

export interface RetainedIndex {
  readonly name: string;
  readonly open: boolean;
  readonly bytes: number;
}

export type RetentionAction = 'delete' | 'close';

export interface Retention {
  readonly type: RetentionSettings['type'];
  /** Which of the indices count against the limits. */
  readonly counts: (index: RetainedIndex) => boolean;
  /** What happens to one that is over them; undefined: nothing. */
  readonly action: RetentionAction | undefined;
}
