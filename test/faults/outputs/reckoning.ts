/** What a row found at the destinations of outputs. */
export interface OutputReckoning {
  readonly outputs: number;
  /** Different messages at the destination that got the fewest. */
  readonly delivered: number;
  /** Accepted and not there, over all destinations. */
  readonly missing: number;
  readonly samples: readonly string[];
  /** Delivered again: allowed, and counted. */
  readonly repeated: number;
  /** Came for the first time behind a later one of their TCP connection. */
  readonly outOfOrder: number;
  /** Speed during the fault as a share of the speed before: of the slowest sound destination, and of the index sets. */
  readonly others: number | undefined;
  readonly processed: number | undefined;
  /** Bytes of memory that the process with the outputs took more during the fault. */
  readonly growth: number;
  readonly heldUp: boolean;
  readonly grew: boolean;
}
