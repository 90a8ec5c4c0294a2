/**
 * The plain meaning of a program: every rule and stream tested in order, no index. The engine must come to the same
 * result.
 */
import type { FieldValue, LogDocument } from '../../schemas/messages.js';
import type { RuleTarget } from '../target.js';
import type { RuleContext, Routing } from '../contract.js';
import { removeField } from '../fields.js';
import { obfuscateField } from '../obfuscation.js';
import { droppedOutcome, outcomeOf, type Entry, type Program } from './program.js';

interface Step {
  readonly entry: Entry;
  readonly held: boolean;
  /** What it threw. */
  readonly error: unknown;
  /** Streams that it added the message to, by number. */
  readonly streams: readonly number[];
}

interface Interpretation {
  readonly routing: Routing;
  readonly obfuscated: boolean;
}

/** `before` and `after` see the document around each entry. */
interface Watcher {
  before?(entry: Entry): void;
  after?(step: Step): void;
}

export function interpret(
  program: Program,
  document: LogDocument,
  context: RuleContext,
  watcher: Watcher = {},
): Interpretation {
  const routed = new Set<number>();
  let streams: number[] = [];
  let dropped = false;
  const target = plainTarget(document, context, {
    route: (stream) => {
      streams.push(stream);
    },
    drop: () => {
      dropped = true;
    },
  });
  for (const entry of program.entries) {
    watcher.before?.(entry);
    streams = [];
    const done = step(entry, target, () => dropped);
    for (const stream of streams) routed.add(stream);
    watcher.after?.({ ...done, streams });
    if (dropped) return { routing: droppedOutcome.routing, obfuscated: false };
  }
  const { routing, obfuscates } = outcomeOf(program, routed);
  if (obfuscates)
    for (const field of program.obfuscation.fields) obfuscateField(target, field, program.obfuscation.obfuscator);
  return { routing, obfuscated: obfuscates };
}

function step(entry: Entry, target: RuleTarget, dropped: () => boolean): Omit<Step, 'streams'> {
  let held = false;
  try {
    held = entry.condition.test(target.document, target.context);
    if (!held) return { entry, held, error: undefined };
    if (entry.stream >= 0) target.route(entry.stream);
    for (const action of entry.actions) {
      action.run(target);
      if (dropped()) break;
    }
    return { entry, held, error: undefined };
  } catch (error) {
    return { entry, held, error };
  }
}

function plainTarget(
  document: LogDocument,
  context: RuleContext,
  { route, drop }: Pick<RuleTarget, 'route' | 'drop'>,
): RuleTarget {
  return {
    document,
    context,
    set: (field: string, value: FieldValue) => {
      document[field] = value;
    },
    remove: (field) => removeField(document, field),
    route,
    drop,
    adjust: (note) => {
      const notes = document['adjustments'];
      document['adjustments'] = Array.isArray(notes) ? [...(notes as readonly string[]), note] : [note];
    },
  };
}
