/**
 * How many times slower than assumed a machine may be before a test gives up waiting for a state. Waiting longer costs
 * nothing where the state is reached. Where a figure is promised, the test compares it by itself.
 */
export const slowness = 4;
