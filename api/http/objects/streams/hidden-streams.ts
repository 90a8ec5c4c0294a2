/**
 * Actions name the stream that they route to. Who may not read it sees that the action is there, and neither its id nor
 * its title.
 */
import type { Catalog } from '../../../../definitions/contract.js';
import { mayReadStream, type Identity } from '../../../../schemas/access.js';
import { invalidMembers } from '../../failure.js';
import { textOf } from '../shapes.js';

type Settings = Readonly<Record<string, unknown>>;
type Actions = readonly Settings[];

const hiddenAction = { route: { hidden: true } } as const;

const memberOf = (action: Settings, name: 'stream' | 'hidden'): unknown =>
  (action['route'] as Settings | null | undefined)?.[name];
const isHidden = (action: Settings): boolean => memberOf(action, 'hidden') === true;

function hiddenStream(action: Settings, { scope }: Identity): string | undefined {
  const stream = memberOf(action, 'stream');
  return typeof stream === 'string' && !mayReadStream(scope, stream) ? stream : undefined;
}

export function showActions(actions: Actions, identity: Identity): Settings[] {
  return actions.map((action) => (hiddenStream(action, identity) === undefined ? action : hiddenAction));
}

/**
 * Actions as they were shown and are sent back: each hidden one stands for the one in its place among the hidden ones
 * of `before`.
 */
export function takeActions(actions: Actions, before: Actions, identity: Identity): Settings[] {
  const hidden = before.filter((action) => hiddenStream(action, identity) !== undefined);
  return actions.map((action) => {
    if (!isHidden(action)) return action;
    const own = hidden.shift();
    if (own === undefined)
      throw invalidMembers({
        then: ['A hidden action stands only for one that the rule has already; name the stream.'],
      });
    return own;
  });
}

/** Empty where it names a stream that these actions route to and that the asker may not read. */
export function showText(text: string, actions: Actions, catalog: Pick<Catalog, 'find'>, identity: Identity): string {
  const names = actions.flatMap((action) => {
    const id = hiddenStream(action, identity);
    return id === undefined ? [] : [id, textOf(catalog.find('streams', id)?.settings['title'])];
  });
  return names.some((name) => name !== '' && text.toLowerCase().includes(name.toLowerCase())) ? '' : text;
}

export function routesToHidden(actions: Actions, identity: Identity): boolean {
  return actions.some((action) => hiddenStream(action, identity) !== undefined);
}
