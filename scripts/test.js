/** Runs all tests. */
