/** What access takes from the running pipeline: the streams, the roles of rule files, and who created which stream. */
import type { CreateAccessOptions } from '../access/access.js';
import type { Sluice } from '../program/sluice.js';

type Kept = ReturnType<Sluice['world']['kept']>;

const none: readonly never[] = [];

export function accessSources(
  sluice: Pick<Sluice, 'rules' | 'world'>,
): Required<Pick<CreateAccessOptions, 'streams' | 'fileRoles' | 'owners'>> {
  let read: Kept | undefined;
  let owners: readonly { readonly stream: string; readonly userId: string }[] = none;
  return {
    streams: () => sluice.rules()?.streams ?? none,
    fileRoles: () => sluice.rules()?.roles ?? none,
    owners() {
      const kept = sluice.world.kept();
      if (kept !== read)
        owners = kept.flatMap(({ kind, id, owner_id: userId }) =>
          kind === 'streams' && userId !== undefined ? [{ stream: id, userId }] : [],
        );
      read = kept;
      return owners;
    },
  };
}
