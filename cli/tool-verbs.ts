/** Verbs that do: config, load. */
import type { Command } from 'commander';

export function addToolVerbs(program: Command): void {
  void program;
}
