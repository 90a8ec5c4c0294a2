/** Roles of the rule files: names that can be given, streams that there are. */
import { isName, keyOfName, nameRule } from '../../core/names.js';
import { auditStream, shippedRoleNames, type FileRole } from '../../schemas/access.js';
import type { RuleFileRole } from '../../schemas/rule-files.js';
import type { Definition } from '../language/join.js';
import { didYouMean, shown, type Place } from '../problems.js';

/** `mayName`: streams that are not there, and that a role may name all the same. */
export function buildRoles(
  definitions: readonly Definition<RuleFileRole>[],
  streamIds: readonly string[],
  mayName: 'all' | ReadonlySet<string> = new Set(),
): readonly FileRole[] {
  const names = new Map(shippedRoleNames.map((name) => [keyOfName(name), 'The role ships, and stays as it is.']));
  return definitions.map(({ id, settings, place, placeOf }) => {
    const taken = names.get(keyOfName(id));
    if (!isName(id)) placeOf('id').report('This is no name of a role.', { got: shown(id), allowed: nameRule });
    else if (taken !== undefined) placeOf('id').report(taken, { got: shown(id), allowed: 'another name' });
    names.set(keyOfName(id), `The role stands in ${place.file} already; names are compared in any case.`);
    const { read = [], edit = [], capabilities = [], description = '' } = settings;
    const isThere = (stream: string): boolean => streamIds.includes(stream) || mayName === 'all' || mayName.has(stream);
    if (read !== 'all') checkStreams(read, placeOf('read'), streamIds, isThere);
    checkStreams(edit, placeOf('edit'), streamIds, isThere);
    return { id, description, read, edit, capabilities, file: place.file };
  });
}

function checkStreams(
  named: readonly string[],
  place: Place,
  streamIds: readonly string[],
  isThere: (stream: string) => boolean,
): void {
  for (const [at, id] of named.entries()) {
    if (id === auditStream)
      place.at(at).report("No role of one's own opens Audit logs.", {
        got: shown(id),
        allowed: 'the roles Administrator and AuditViewer read it',
      });
    else if (!isThere(id))
      place.at(at).report('There is no stream of this id.', {
        got: shown(id),
        allowed: streamIds.filter((stream) => stream !== auditStream).join(', '),
        suggestion: didYouMean(id, streamIds),
        confidential: true,
      });
  }
}
