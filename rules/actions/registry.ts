/** Every kind of action, in the order of the reference page. A new one is a file and a line here. */
import { convert } from './convert.js';
import { copy } from './copy.js';
import { date } from './date.js';
import type { ActionEntry } from './define.js';
import { drop } from './drop.js';
import { grok } from './grok.js';
import { leaveDefaultStream } from './leave-default-stream.js';
import { obfuscate } from './obfuscate.js';
import { parseJson } from './parse-json.js';
import { parseKeyValue } from './parse-key-value.js';
import { regex } from './regex.js';
import { remove } from './remove.js';
import { rename } from './rename.js';
import { replace } from './replace.js';
import { route } from './route.js';
import { sample } from './sample.js';
import { set } from './set.js';

export const actions: readonly ActionEntry[] = [
  route,
  leaveDefaultStream,
  set,
  copy,
  rename,
  remove,
  replace,
  convert,
  parseJson,
  parseKeyValue,
  grok,
  regex,
  date,
  obfuscate,
  sample,
  drop,
];

export const actionsByName: ReadonlyMap<string, ActionEntry> = new Map(actions.map((entry) => [entry.name, entry]));
