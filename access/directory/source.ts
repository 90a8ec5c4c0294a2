/** The directory in force: of the settings file when it is enabled there, else what the API has set. */
import { errorText } from '../../core/errors.js';
import type { Log } from '../../core/log.js';
import type { LdapOptions } from '../../schemas/config/ldap.js';
import type { StateStore } from '../../state/contract.js';
import { isConflict } from '../stored/collection.js';
import type { Directory } from './contract.js';
import { checkLdapSettings, createLdapDirectory } from './ldap.js';

const key = 'authentication/ldap';

export interface ActiveDirectory {
  readonly directory: Directory;
  readonly settings: LdapOptions;
}

export interface DirectorySource {
  start(): Promise<void>;
  stop(): void;
  readonly fromFile: boolean;
  settings(): LdapOptions;
  /** Undefined: none is enabled. */
  active(): ActiveDirectory | undefined;
  /** Keeps what the API sets; in force at once here, within a second elsewhere. */
  set(settings: LdapOptions): Promise<void>;
}

export function createDirectorySource({
  settings: fromSettings,
  state,
  log,
}: {
  readonly settings: LdapOptions;
  readonly state: StateStore;
  readonly log: Log;
}): DirectorySource {
  const fromFile = fromSettings.enabled;
  let settings = fromSettings;
  let active: ActiveDirectory | undefined;
  let stopWatching = (): void => undefined;
  const use = (next: LdapOptions): void => {
    if (JSON.stringify(next) === JSON.stringify(settings) && active !== undefined) return;
    settings = next;
    active = next.enabled ? { directory: createLdapDirectory(next), settings: next } : undefined;
  };
  const read = async (): Promise<void> => {
    const entry = await state.get(key);
    // Settings that a version before kept lack what came later.
    use({ ...fromSettings, ...(entry?.value as LdapOptions | undefined) });
  };
  return {
    fromFile,
    async start() {
      if (fromFile) {
        checkLdapSettings(fromSettings);
        use(fromSettings);
        return;
      }
      await read();
      stopWatching = state.watch(key, () => {
        void read().catch((error: unknown) =>
          log.warn({ error: errorText(error) }, 'the settings of the directory could not be read again'),
        );
      });
    },
    stop: () => stopWatching(),
    settings: () => settings,
    active: () => active,
    async set(next) {
      for (;;) {
        const entry = await state.get(key);
        try {
          await state.put(key, next, entry?.revision);
          return use(next);
        } catch (thrown) {
          if (!isConflict(thrown)) throw thrown;
        }
      }
    },
  };
}
