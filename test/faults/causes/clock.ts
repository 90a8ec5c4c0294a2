/** Moves the wall clock of the programs alone (libfaketime); what measures elapsed time goes on as it should. */
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

function findLibrary(): string | undefined {
  const folders = existsSync('/usr/lib')
    ? readdirSync('/usr/lib').map((name) => join('/usr/lib', name, 'faketime'))
    : [];
  return [...folders, '/usr/local/lib/faketime']
    .map((folder) => join(folder, 'libfaketime.so.1'))
    .find((file) => existsSync(file));
}

/** Why the clock cannot be moved; undefined when it can. */
export function missingForClock(): string | undefined {
  return findLibrary() === undefined ? 'libfaketime (package faketime)' : undefined;
}

export function setClock(file: string, seconds: number): void {
  writeFileSync(file, `${seconds < 0 ? '-' : '+'}${Math.abs(seconds)}\n`);
}

export function clockEnvironment(file: string): NodeJS.ProcessEnv {
  setClock(file, 0);
  return {
    LD_PRELOAD: findLibrary(),
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_CACHE_DURATION: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
    DONT_FAKE_MONOTONIC: '1',
  };
}
