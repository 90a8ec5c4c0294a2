import { writeError } from '../failures.js';
import type { Catalog } from '../files/catalog.js';
import type { IndexFile } from '../files/index-file.js';

/** Runs between the writes of this index. */
export function withFile<Result>(
  catalog: Catalog,
  index: string,
  work: (file: IndexFile) => Promise<Result>,
): Promise<Result> {
  const entry = catalog.need(index);
  return entry.exclusive(async () => {
    const file = await catalog.attachLocked(catalog.need(index));
    return catalog
      .use(() => work(file))
      .catch((thrown: unknown) => {
        throw writeError(thrown, index);
      });
  });
}
