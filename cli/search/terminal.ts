/** Standard output and error as `sluice search` uses them. */
import type { SearchTerminal } from './search.js';

/** `stop` takes the signal handlers away again. A closed pipe (`| head`) ends the search like SIGINT. */
export function createSearchTerminal(): { readonly terminal: SearchTerminal; readonly stop: () => void } {
  const controller = new AbortController();
  const abort = () => controller.abort();
  const onOutputError = (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    abort();
  };
  process.once('SIGINT', abort);
  process.once('SIGTERM', abort);
  process.stdout.on('error', onOutputError);
  const terminal: SearchTerminal = {
    print: (line) => void (controller.signal.aborted ? undefined : process.stdout.write(`${line}\n`)),
    note: (line) => void process.stderr.write(`${line}\n`),
    color: process.stdout.isTTY && (process.env['NO_COLOR'] ?? '') === '',
    now: Date.now,
    signal: controller.signal,
  };
  return {
    terminal,
    stop: () => {
      process.removeListener('SIGINT', abort);
      process.removeListener('SIGTERM', abort);
      process.stdout.removeListener('error', onOutputError);
    },
  };
}
