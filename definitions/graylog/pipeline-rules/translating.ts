/** What the translation of one rule knows and gathers. */
import { apiIdOf } from '../../../core/object-ids.js';
import type { Settings } from '../../stored.js';
import type { KnownNames, Position, TextProblem } from '../contract.js';
import { textInvalid, wrongAt } from './problem.js';
import type { Argument, Node, NodeOf } from './tree.js';

interface Variable {
  readonly value: Node;
  /** How many actions there were when it was set. */
  readonly since: number;
  /** Fields that it is made of. */
  readonly reads: ReadonlySet<string>;
}

export interface Translating {
  readonly known: KnownNames;
  readonly actions: Settings[];
  readonly variables: Map<string, Variable>;
  /** Fields that are there only while the rule runs. */
  temporary: number;
}

/** More are rarely read. */
const maxProblems = 20;

/** Goes through all, so that everything that is wrong is said at once. */
export function forEachChecked<Item>(
  items: readonly Item[],
  run: (item: Item) => void,
  problemsOf: (error: unknown) => readonly TextProblem[],
): void {
  const problems: TextProblem[] = [];
  for (const item of items) {
    try {
      run(item);
    } catch (error) {
      problems.push(...problemsOf(error));
    }
  }
  if (problems.length > 0) throw textInvalid(problems.slice(0, maxProblems));
}

/** The arguments of a call, by the names of its parameters. */
interface GivenArguments {
  get(name: string): Node | undefined;
  has(name: string): boolean;
  /** Refuses a call without it. */
  needed(name: string): Node;
}

/** Arguments by name. Those given by place get the names of `parameters`, in their order. */
export function argumentsOf(call: NodeOf<'call'>, parameters: readonly string[], required: number): GivenArguments {
  const found = new Map<string, Node>();
  for (const [place, argument] of call.given.entries())
    found.set(parameterOf(call, argument, place, parameters), argument.value);
  const needed = (name: string): Node => {
    const value = found.get(name);
    if (value === undefined) throw wrongAt(call, `${call.name}() needs \`${name}\`.`);
    return value;
  };
  for (const name of parameters.slice(0, required)) needed(name);
  return { get: (name) => found.get(name), has: (name) => found.has(name), needed };
}

function parameterOf(
  call: NodeOf<'call'>,
  { name, value }: Argument,
  place: number,
  parameters: readonly string[],
): string {
  const known = name ?? parameters[place];
  if (known !== undefined && parameters.includes(known)) return known;
  throw wrongAt(
    value,
    name === undefined
      ? `${call.name}() takes ${parameters.length} arguments here: ${parameters.join(', ')}.`
      : `The argument \`${name}\` of ${call.name}() is not supported. Supported: ${parameters.join(', ')}.`,
  );
}

export function literalOf(node: Node): string | number | boolean | undefined {
  if (node.kind === 'literal') return node.value;
  return node.kind === 'minus' && node.of.kind === 'literal' && typeof node.of.value === 'number'
    ? -node.of.value
    : undefined;
}

export function textLiteral(node: Node | undefined, what: string, place: Position): string {
  const value = node === undefined ? undefined : literalOf(node);
  if (typeof value !== 'string') throw wrongAt(node ?? place, `${what} must be a text in quotes here.`);
  return value;
}

export function flagLiteral(node: Node | undefined, what: string): boolean {
  if (node === undefined) return false;
  const value = literalOf(node);
  if (typeof value !== 'boolean') throw wrongAt(node, `${what} must be true or false here.`);
  return value;
}

const numberedField = /^gl2_/;

/** The name of a field as a rule says it. */
export function fieldName(name: string, place: Position): string {
  if (name === '') throw wrongAt(place, 'A field needs a name.');
  if (numberedField.test(name)) throw wrongAt(place, `There is no field ${name} here: it is the peer's own.`);
  return name;
}

/** The ids that Graylog gave to the default stream, and its titles there. */
const defaultNames = new Set(['Default Stream', 'All messages']);

export function streamOf(
  { known }: Translating,
  wanted: { readonly id?: Node | undefined; readonly name?: Node | undefined },
  place: Position,
): string {
  const id = wanted.id === undefined ? undefined : textLiteral(wanted.id, 'The id of a stream', place);
  const name = wanted.name === undefined ? undefined : textLiteral(wanted.name, 'The name of a stream', place);
  const found =
    id !== undefined
      ? known.streams.find((stream) => stream.id === id || apiIdOf(stream.id) === id)
      : (known.streams.find(({ title }) => title === name) ??
        (defaultNames.has(name ?? '') ? known.streams.find(({ id: one }) => one === 'all-messages') : undefined));
  if (found === undefined)
    throw wrongAt(
      wanted.id ?? wanted.name ?? place,
      id === undefined && name === undefined
        ? 'A stream is named by `name` or `id`.'
        : `There is no stream ${JSON.stringify(id ?? name)}; create it first.`,
    );
  return found.id;
}
