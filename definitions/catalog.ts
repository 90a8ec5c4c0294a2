/** All objects as people see them: of files, of what ships and of the API together, each with where it comes from. */
import { findId } from '../core/object-ids.js';
import type { RuleSource } from '../rules/contract.js';
import { describeRules, type Described, type Description } from '../rules/language/describe.js';
import { versionOf } from '../rules/loading/source.js';
import type { Catalog, CatalogItem } from './contract.js';
import { isDerivedFile } from './derived.js';
import { objectErrors } from './errors.js';
import type { StoredDefinition, StoredDefinitions, RuleKind } from './stored.js';
import { nameOf, withObjects, type RulesLoader } from './loader.js';
import { isObjectFile } from './rule-files.js';

const lists = { 'index-sets': 'index_sets', streams: 'streams', rules: 'rules', outputs: 'outputs' } as const;

export function createCatalogReader(
  readFiles: () => Promise<RuleSource>,
  stored: () => StoredDefinitions,
  leftOut: RulesLoader['leftOut'],
): () => Promise<Catalog> {
  let last: { readonly version: string; readonly description: Description } | undefined;
  return async () => {
    const objects = stored();
    const source = withObjects(await readFiles(), objects);
    const version = versionOf(source);
    if (version !== last?.version) {
      const description = describeRules(source);
      // While a file cannot be read, what it said before is shown.
      if (description !== undefined) last = { version, description };
    }
    if (last === undefined) throw objectErrors.create('OBJECT_INVALID', { got: 'rule files that cannot be read' });
    return catalogOf(last.version, last.description, objects, leftOut());
  };
}

function catalogOf(
  version: string,
  description: Description,
  stored: StoredDefinitions,
  leftOut: ReturnType<RulesLoader['leftOut']>,
): Catalog {
  const list = (kind: RuleKind): readonly CatalogItem[] =>
    description[lists[kind]].map((described) => {
      const object = stored.find((candidate) => candidate.kind === kind && candidate.id === described.id);
      return itemOf(described, object, object === undefined ? undefined : leftOut.get(nameOf(object))?.message);
    });
  return {
    version,
    list,
    obfuscation: description.obfuscation,
    find(kind, name) {
      const items = list(kind);
      const id = findId(
        items.map((item) => item.id),
        name,
      );
      return items.find((item) => item.id === id);
    },
  };
}

function itemOf(
  { id, settings, files }: Described,
  stored: StoredDefinition | undefined,
  problem: string | undefined,
): CatalogItem {
  const own = files.filter((file) => !isObjectFile(file));
  const file = own.findLast((name) => !name.startsWith('defaults/'));
  return {
    id,
    settings,
    origin: file !== undefined ? 'file' : own.length > 0 ? 'shipped' : 'api',
    file,
    stored,
    derived: files.some(isDerivedFile),
    problem,
  };
}
