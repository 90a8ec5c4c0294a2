import { Type } from 'typebox';
import { isProtected, plainReader, storableName } from '../fields.js';
import { shown } from '../problems.js';
import { asFieldValue, checkWritable, defineAction, nothing, type Action } from './define.js';
import type { RuleTarget } from '../target.js';

export const rename = defineAction({
  name: 'rename',
  description:
    'Gives a field another name, or every field that starts with `from_prefix` the other prefix. A field that is already there is kept when `overwrite` is false; then the old name stays too.',
  schema: Type.Object(
    {
      from: Type.Optional(Type.String({ description: 'Old name.', minLength: 1 })),
      to: Type.Optional(Type.String({ description: 'New name.', minLength: 1 })),
      from_prefix: Type.Optional(Type.String({ description: 'Old start of the names.', minLength: 1 })),
      to_prefix: Type.Optional(Type.String({ description: 'New start of the names; may be empty.' })),
      overwrite: Type.Optional(Type.Boolean({ description: 'false: only where the new name is free.', default: true })),
    },
    { additionalProperties: false, description: 'Rename a field, or all with a prefix.' },
  ),
  example: {
    then: [{ rename: { from_prefix: 'labels_', to_prefix: 'labels-' } }],
    before: { labels_app: 'pay', message: 'm' },
    after: { message: 'm', 'labels-app': 'pay' },
  },
  build: ({ from, to, from_prefix: fromPrefix, to_prefix: toPrefix, overwrite }, place) => {
    const keeps = overwrite === false;
    if (from !== undefined && to !== undefined && fromPrefix === undefined && toPrefix === undefined) {
      checkWritable(to, place.at('to'));
      checkWritable(from, place.at('from'));
      return renameOne(from, to, keeps);
    }
    if (from === undefined && to === undefined && fromPrefix !== undefined && toPrefix !== undefined)
      return renameAll(fromPrefix, toPrefix, keeps);
    place.report('A rename has two names or two prefixes.', {
      got: shown(Object.keys({ from, to, fromPrefix, toPrefix })),
      allowed: '`from` and `to`, or `from_prefix` and `to_prefix`',
    });
    return nothing;
  },
});

function renameOne(from: string, to: string, keeps: boolean): Action {
  const read = plainReader(from);
  return {
    text: `rename ${from} to ${to}`,
    run: (target) => {
      const value = read(target.document);
      if (value === undefined || (keeps && target.document[to] !== undefined)) return;
      target.remove(from);
      target.set(to, asFieldValue(value));
    },
  };
}

/** Names repeat; a flood of new ones empties the table and starts it again. */
const maxNames = 1_000;

function renameAll(fromPrefix: string, toPrefix: string, keeps: boolean): Action {
  const targets = new Map<string, string>();
  const first = fromPrefix.charCodeAt(0);
  return {
    text: `rename fields ${fromPrefix}* to ${toPrefix}*`,
    run: (target) => {
      let found: string[] | undefined;
      for (const field in target.document) {
        // Most names differ in the first character already.
        if (field.charCodeAt(0) === first && field.startsWith(fromPrefix) && field.length > fromPrefix.length)
          (found ??= []).push(field);
      }
      if (found === undefined) return;
      for (const field of found) {
        let to = targets.get(field);
        if (to === undefined) {
          to = targetOf(field, `${toPrefix}${field.slice(fromPrefix.length)}`);
          if (targets.size >= maxNames) targets.clear();
          targets.set(field, to);
        }
        if (to !== field) move(target, field, to, keeps);
      }
    },
  };
}

/** The field itself where it must keep its name. */
function targetOf(from: string, wanted: string): string {
  return isProtected(from) ? from : (storableName(wanted) ?? from);
}

function move(target: RuleTarget, from: string, to: string, keeps: boolean): void {
  const value = target.document[from];
  if (value === undefined || (keeps && target.document[to] !== undefined)) return;
  target.remove(from);
  target.set(to, asFieldValue(value));
}
