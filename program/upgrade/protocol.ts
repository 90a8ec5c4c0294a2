/**
 * The version of the delivery records in the state, which processors of several releases may share: stamped at the
 * start, and watched, so that a program that can no longer read what others write stops instead of guessing.
 */
import { errorText, isSluiceError } from '../../core/errors.js';
import { formatVersions } from '../../core/formats/versions.js';
import { bringUpToDate, type StampPlace } from '../../core/formats/migrate.js';
import { judgeStamp, readStamp } from '../../core/formats/stamp.js';
import type { Log } from '../../core/log.js';
import type { StateStore } from '../../state/contract.js';
import { programEvents } from '../events.js';

const protocolKey = 'protocol/version';
const place = `state entry ${protocolKey}`;

/** Rejects with FORMAT_NEWER or FORMAT_TOO_OLD. The watch ends with the state store. */
export async function joinProtocol(state: StateStore, log: Log, onFatal: (error: unknown) => void): Promise<void> {
  await bringUpToDate({ format: formatVersions.protocol, stamps: stampEntry(state), steps: {}, log });
  const check = async (): Promise<void> => {
    const verdict = judgeStamp(formatVersions.protocol, readStamp((await state.get(protocolKey))?.value, place), place);
    if (verdict.kind === 'refused') onFatal(verdict.error);
  };
  state.watch(
    protocolKey,
    () => void check().catch((error: unknown) => programEvents.stateVersionUnread(log, { error: errorText(error) })),
  );
}

/** Raised by compare-and-set. */
function stampEntry(state: StateStore): StampPlace {
  let revision: string | undefined;
  return {
    place,
    async read() {
      const entry = await state.get(protocolKey);
      revision = entry?.revision;
      return readStamp(entry?.value, place);
    },
    async write(stamp) {
      try {
        revision = (await state.put(protocolKey, stamp, revision)).revision;
        return true;
      } catch (error) {
        if (isSluiceError(error) && error.code === 'STATE_CONFLICT') return false;
        throw error;
      }
    },
  };
}
