/**
 * Runs a program over messages: candidates from the index, conditions and actions in order. One message at a time,
 * synchronous.
 */
import type { FieldValue, LogDocument } from '../../schemas/messages.js';
import type { RuleTarget } from '../target.js';
import type { FieldChanges, RuleContext, RuleCounts, Routing } from '../contract.js';
import { removeField } from '../fields.js';
import { obfuscateField } from '../obfuscation.js';
import { droppedOutcome, leavesDefault, outcomeOf, type Outcome, type Program } from './program.js';

interface Engine {
  apply(document: LogDocument, context: RuleContext): Routing;
  takeCounts(): RuleCounts;
}

/**
 * Combinations of streams that are remembered; a sender can only make as many as the streams allow, but that may be
 * very many.
 */
const maxOutcomes = 10_000;
const noDocument: LogDocument = {};
const noContext: RuleContext = { messageId: '', receiver: '' };

class Run implements RuleTarget {
  document: LogDocument = noDocument;
  context: RuleContext = noContext;
  dropped = false;
  readonly candidates: Uint32Array;
  readonly routed: Uint32Array;
  readonly #program: Program;

  constructor(program: Program) {
    this.#program = program;
    this.candidates = new Uint32Array(program.index.words * 2);
    this.routed = new Uint32Array(Math.ceil((leavesDefault(program.streams) + 1) / 32));
  }

  begin(document: LogDocument, context: RuleContext): void {
    this.document = document;
    this.context = context;
    this.dropped = false;
    for (let word = 0; word < this.routed.length; word += 1) this.routed[word] = 0;
  }

  set(field: string, value: FieldValue): void {
    this.#program.index.write(this.document, field, value, this.candidates);
    if (this.context.changes !== undefined) noteChange(this.context.changes, this.document, field, value);
    this.document[field] = value;
  }

  remove(field: string): void {
    if (this.document[field] !== undefined) this.context.changes?.changed.push(field);
    removeField(this.document, field);
    this.#program.index.reveal(this.document, field, this.candidates);
  }

  route(stream: number): void {
    this.routed[stream >>> 5] = (this.routed[stream >>> 5] as number) | (1 << (stream & 31));
  }

  drop(): void {
    this.dropped = true;
  }

  adjust(note: string): void {
    const notes = this.document['adjustments'];
    this.document['adjustments'] = Array.isArray(notes) ? [...(notes as readonly string[]), note] : [note];
  }
}

function noteChange({ added, changed }: FieldChanges, document: LogDocument, field: string, value: FieldValue): void {
  const before = document[field];
  if (before === undefined) added.push(field);
  else if (before !== value) changed.push(field);
}

export function createEngine(program: Program): Engine {
  const { entries, obfuscation } = program;
  const run = new Run(program);
  const { candidates, routed } = run;
  const matched = new Float64Array(entries.length);
  const failed = new Float64Array(entries.length);
  const outcomes = createOutcomeCache(program, routed);
  const { words } = program.index;
  let current = 0;

  const runFrom = (first: number): void => {
    const { document, context } = run;
    let mask = -1 << (first & 31);
    for (let word = first >>> 5; word < words; word += 1) {
      let rest = (candidates[word] as number) & (candidates[words + word] as number) & mask;
      while (rest !== 0) {
        const bit = 31 - Math.clz32(rest & -rest);
        current = (word << 5) | bit;
        const entry = entries[current];
        if (entry?.condition.test(document, context) === true) {
          matched[current] = (matched[current] as number) + 1;
          if (entry.stream >= 0) run.route(entry.stream);
          for (const action of entry.actions) {
            action.run(run);
            if (run.dropped) return;
          }
        }
        // Actions may have added candidates behind this one.
        rest = bit === 31 ? 0 : (candidates[word] as number) & (candidates[words + word] as number) & (-2 << bit);
      }
      mask = -1;
    }
  };

  const apply = (document: LogDocument, context: RuleContext): Routing => {
    run.begin(document, context);
    startCandidates(program, document, candidates);
    for (let first = 0; first < entries.length; first = current + 1) {
      try {
        current = first;
        runFrom(first);
        break;
      } catch {
        failed[current] = (failed[current] as number) + 1;
      }
    }
    if (run.dropped) return droppedOutcome.routing;
    const outcome = outcomes();
    if (outcome.obfuscates) for (const field of obfuscation.fields) obfuscateField(run, field, obfuscation.obfuscator);
    return outcome.routing;
  };

  return {
    apply,
    takeCounts: () => ({ matched: takeOf(program, matched, false), failed: takeOf(program, failed, true) }),
  };
}

/** A document that cannot be read makes every entry a candidate: each then fails, and is counted, on its own. */
function startCandidates(program: Program, document: LogDocument, candidates: Uint32Array): void {
  try {
    program.index.start(document, candidates);
  } catch {
    candidates.fill(0xffffffff);
  }
}

function createOutcomeCache(program: Program, routed: Uint32Array): () => Outcome {
  const known = new Map<number | string, Outcome>();
  return () => {
    const key = routed.length === 1 ? (routed[0] as number) : routed.join(',');
    const found = known.get(key);
    if (found !== undefined) return found;
    if (known.size >= maxOutcomes) known.clear();
    const matched = new Set(
      Array.from({ length: leavesDefault(program.streams) + 1 }, (_, stream) => stream).filter(
        (stream) => (((routed[stream >>> 5] as number) >>> (stream & 31)) & 1) === 1,
      ),
    );
    const outcome = outcomeOf(program, matched);
    known.set(key, outcome);
    return outcome;
  };
}

function takeOf({ entries }: Program, counts: Float64Array, streamsToo: boolean): ReadonlyMap<string, number> {
  const taken = new Map<string, number>();
  for (const [place, { id, stream }] of entries.entries()) {
    const count = counts[place] as number;
    if (count > 0 && (stream < 0 || streamsToo)) taken.set(id, (taken.get(id) ?? 0) + count);
    counts[place] = 0;
  }
  return taken;
}
