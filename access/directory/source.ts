/** The directory in force: of the settings file when it is enabled there, else what the API has set. */
import { Type } from 'typebox';
import { errorText, isSluiceError } from '../../core/errors.js';
import type { Log } from '../../core/log.js';
import { ldapOptions, type LdapOptions } from '../../schemas/config/ldap.js';
import type { StateStore } from '../../state/contract.js';
import { isConflict } from '../stored/collection.js';
import type { Directory } from './contract.js';
import { recordReader } from '../stored/records.js';
import { checkLdapSettings, createLdapDirectory } from './ldap.js';
import { accessEvents } from '../events.js';

const key = 'authentication/ldap';
/** Those of an older version lack what came later. */
const readSettings = recordReader(Type.Partial(Type.Object(ldapOptions.properties)));

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
    use(entry === undefined ? fromSettings : { ...fromSettings, ...readSettings(entry) });
  };
  /** Settings that cannot be read must not keep local users out. */
  const withoutDirectory = (error: unknown): void => {
    if (!isSluiceError(error) || error.code !== 'ACCESS_RECORD_INVALID') throw error;
    accessEvents.directorySettingsRefused(log, { error: errorText(error) });
  };
  return {
    fromFile,
    async start() {
      if (fromFile) {
        checkLdapSettings(fromSettings);
        use(fromSettings);
        return;
      }
      await read().catch(withoutDirectory);
      stopWatching = state.watch(key, () => {
        void read().catch((error: unknown) => accessEvents.directorySettingsUnread(log, { error: errorText(error) }));
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
