/** What access takes from the running program: the streams, the roles of rule files, and who owns which stream. */
import type { CreateAccessOptions } from '../../access/access.js';
import type { StoredDefinitions } from '../../definitions/contract.js';
import type { Sluice } from '../sluice.js';

const none: readonly never[] = [];

export function accessSources(
  sluice: Pick<Sluice, 'rules' | 'world'>,
): Required<Pick<CreateAccessOptions, 'streams' | 'fileRoles' | 'owners'>> {
  let last: StoredDefinitions | undefined;
  let owners: readonly { readonly stream: string; readonly userId: string }[] = none;
  return {
    streams: () => sluice.rules()?.streams ?? none,
    fileRoles: () => sluice.rules()?.roles ?? none,
    owners() {
      const stored = sluice.world.stored();
      if (stored !== last)
        owners = stored.flatMap(({ kind, id, owner_id: userId }) =>
          kind === 'streams' && userId !== undefined ? [{ stream: id, userId }] : [],
        );
      last = stored;
      return owners;
    },
  };
}
