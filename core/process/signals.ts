/** Signals that end the program: the first one stops it, the second ends at once. */

/** The exit code of a program that was interrupted. */
export const interruptedCode = 130;

/** Returns what takes the handlers away again. */
export function catchSignals(onStop: (signal: NodeJS.Signals) => void, atOnce: () => void): () => void {
  let signals = 0;
  const onSignal = (signal: NodeJS.Signals): void => {
    signals += 1;
    if (signals === 1) onStop(signal);
    else atOnce();
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  return () => {
    process.off('SIGINT', onSignal);
    process.off('SIGTERM', onSignal);
  };
}
