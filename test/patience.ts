/**
 * How many times slower a machine may be than the deadlines of the tests assume before a state that does come counts as one that never
 * comes. A deadline costs nothing where the state is reached; where a figure is promised, the test compares it by itself.
 */
export const patience = 4;
