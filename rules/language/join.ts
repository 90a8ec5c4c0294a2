/** Joins the files: a definition of the same id in a later file changes the settings it names and keeps its place. */
import { ownMember } from '../../core/own-member.js';
import type { ParsedFile, RuleFile } from './parse.js';
import { createPlace, shown, type Place, type Problem } from '../problems.js';

/** One rule, stream or index set: each setting with the place where its value stands. */
export interface Definition<Settings extends { readonly id: string }> {
  readonly id: string;
  readonly settings: Settings;
  /** Place of the first file's definition. */
  readonly place: Place;
  /** Place of one setting; of the definition when it is not set. */
  readonly placeOf: (key: keyof Settings & string) => Place;
}

export type Listed = 'rules' | 'streams' | 'index_sets' | 'outputs' | 'roles';
type ItemOf<List extends Listed> = NonNullable<RuleFile[List]>[number];

/** Setting one of these in a later file drops the other of an earlier one. */
const exclusive: Readonly<Record<string, readonly string[]>> = { when: ['rules', 'matching_type'], rules: ['when'] };

interface Building {
  settings: Record<string, unknown>;
  readonly place: Place;
  readonly places: Map<string, Place>;
}

export function joinDefinitions<List extends Listed>(
  list: List,
  files: readonly ParsedFile[],
  problems: Problem[],
): readonly Definition<ItemOf<List>>[] {
  const byId = new Map<string, Building>();
  for (const file of files) {
    const inThisFile = new Set<string>();
    for (const [index, item] of (file.data[list] ?? []).entries()) {
      const place = createPlace(file, [list, index], problems);
      if (inThisFile.has(item.id))
        place
          .at('id')
          .report('The id stands twice in this file; the second would replace the first.', { got: shown(item.id) });
      inThisFile.add(item.id);
      join(byId, item, place);
    }
  }
  return [...byId].map(([id, { settings, place, places }]) => ({
    id,
    settings: settings as unknown as ItemOf<List>,
    place,
    placeOf: (key) => places.get(key) ?? place,
  }));
}

function join(byId: Map<string, Building>, item: { readonly id: string }, place: Place): void {
  const known = byId.get(item.id);
  const building: Building = known ?? { settings: {}, place, places: new Map() };
  if (known === undefined) byId.set(item.id, building);
  for (const [key, value] of Object.entries(item)) {
    for (const other of ownMember(exclusive, key) ?? []) if (!(other in item)) delete building.settings[other];
    building.settings[key] = value;
    building.places.set(key, place.at(key));
  }
}
