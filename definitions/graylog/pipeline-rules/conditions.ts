/** Expressions of Graylog pipeline rules → conditions of rule files. */
import { apiIdOf } from '../../../core/object-ids.js';
import { compilePattern } from '../../../rules/pattern.js';
import type { Settings } from '../../stored.js';
import { operandOf, valueFunctions, type Operand } from './operands.js';
import { wrongAt } from './problem.js';
import type { KnownNames } from '../contract.js';
import { argumentsOf, fieldName, flagLiteral, literalOf, textLiteral } from './translating.js';
import type { Node, NodeOf } from './tree.js';

const always: Settings = { always: true };
const not = (condition: Settings): Settings =>
  'not' in condition ? (condition['not'] as Settings) : { not: condition };
const never = not(always);
const anyOf = (...conditions: readonly Settings[]): Settings => ({ any: conditions });
const exists = (field: string): Settings => ({ field, exists: true });
const isNumber = (field: string): Settings => anyOf({ field, greater: -1 }, { field, less: 0 });
const supported =
  'has_field, is_null, is_not_null, from_input, to_bool, contains, starts_with, ends_with, regex(...).matches, == != < <= > >= with a literal, and, or, not';

export function conditionOf(node: Node, known: KnownNames): Settings {
  switch (node.kind) {
    case 'literal':
      if (typeof node.value === 'boolean') return node.value ? always : never;
      break;
    case 'not':
      return not(conditionOf(node.of, known));
    case 'all':
    case 'any':
      return { [node.kind]: node.of.flatMap((one) => spread(conditionOf(one, known), node.kind)) };
    case 'operation':
      return comparison(node, known);
    case 'member':
      return matchesOf(node);
    case 'call':
      return callOf(node, known);
    default:
  }
  throw wrongAt(node, `This cannot be a condition. Supported: ${supported}.`);
}

/** Lists within lists of the same kind are one list: conditions nest only so deep. */
const spread = (condition: Settings, kind: 'all' | 'any'): readonly Settings[] =>
  kind in condition ? (condition[kind] as readonly Settings[]) : [condition];

function callOf(call: NodeOf<'call'>, known: KnownNames): Settings {
  switch (call.name) {
    case 'has_field':
      return exists(
        fieldName(textLiteral(argumentsOf(call, ['field'], 1).get('field'), 'The name of a field', call), call),
      );
    case 'is_null':
    case 'is_not_null': {
      const value = argumentsOf(call, ['value'], 1).needed('value');
      const { field, missing } = fieldOf(value, call.name);
      if (missing !== 'nothing')
        throw wrongAt(value, `${call.name}() of a conversion is always the same; ask for $message.${field}.`);
      const present = exists(field);
      return call.name === 'is_null' ? not(present) : present;
    }
    case 'from_input':
      return { input: receiverOf(call, known) };
    case 'to_bool':
      return isTrue(fieldOf(call, call.name));
    case 'contains':
      return partOf(call, 'contains', 'search');
    case 'starts_with':
      return partOf(call, 'starts_with', 'prefix');
    case 'ends_with':
      return partOf(call, 'ends_with', 'suffix');
    case 'regex':
    case 'grok':
      throw wrongAt(
        call,
        call.name === 'regex'
          ? 'regex() is no condition; add `.matches`.'
          : 'grok() cannot be a condition here; test with regex(...).matches.',
      );
    default:
      throw wrongAt(call, `The function ${call.name}() is not supported in a condition. Supported: ${supported}.`);
  }
}

function fieldOf(node: Node, what: string): Operand {
  const operand = operandOf(node);
  if (operand === undefined)
    throw wrongAt(node, `${what} takes a field here: $message.field, or one of ${valueFunctions} of it.`);
  return operand;
}

const isTrue = ({ field }: Operand): Settings => ({ field, equals: 'true', ignore_case: true });

/** By the id of an input, its title, or the name of a receiver in the settings. */
function receiverOf(call: NodeOf<'call'>, { receivers }: KnownNames): string {
  const given = argumentsOf(call, ['id', 'name'], 0);
  const node = given.get('id') ?? given.get('name');
  const wanted = textLiteral(node, 'The input', call);
  const found = receivers.find(({ id, title }) =>
    given.has('id') ? apiIdOf(id) === wanted || id === wanted : title === wanted || id === wanted,
  );
  if (found === undefined) throw wrongAt(node ?? call, `There is no input ${JSON.stringify(wanted)}.`);
  return found.id;
}

function partOf(
  call: NodeOf<'call'>,
  condition: 'contains' | 'starts_with' | 'ends_with',
  parameter: string,
): Settings {
  const given = argumentsOf(call, ['value', parameter, 'ignore_case'], 2);
  const operand = fieldOf(given.needed('value'), `${call.name}()`);
  const wanted = textLiteral(given.get(parameter), `\`${parameter}\` of ${call.name}()`, call);
  const { field } = operand;
  if (wanted === '') return operand.missing === 'empty text' ? always : exists(field);
  if (!isOfLetters(wanted, operand)) return never;
  const ignores = operand.letters !== 'as they are' || flagLiteral(given.get('ignore_case'), '`ignore_case`');
  return { field, [condition]: wanted, ...(ignores ? { ignore_case: true } : {}) };
}

function isOfLetters(text: string, { letters }: Operand): boolean {
  return letters === 'as they are' || text === (letters === 'lower' ? text.toLowerCase() : text.toUpperCase());
}

/** `regex("pattern", value).matches` */
function matchesOf({ of, key, line, column }: NodeOf<'member'>): Settings {
  if (of.kind !== 'call' || of.name !== 'regex' || literalOf(key) !== 'matches')
    throw wrongAt({ line, column }, `This cannot be a condition. Supported: ${supported}.`);
  const given = argumentsOf(of, ['pattern', 'value'], 2);
  const operand = fieldOf(given.needed('value'), 'regex()');
  if (operand.letters !== 'as they are')
    throw wrongAt(of, 'regex() of changed letters is not supported; begin the pattern with (?i).');
  const pattern = patternOf(textLiteral(given.get('pattern'), 'The pattern', of), given.needed('pattern'));
  const found: Settings = { field: operand.field, regex: pattern };
  const compiled = compilePattern(pattern);
  const takesNothing = !('error' in compiled) && operand.missing === 'empty text' && compiled.test('');
  return takesNothing ? anyOf(found, not(exists(operand.field))) : found;
}

/** In Graylog a dot of a pattern does not match line breaks; here it does, unless told otherwise. */
export function patternOf(source: string, place: Node): string {
  const pattern = source.includes('.') ? `(?-s)${source}` : source;
  const compiled = compilePattern(pattern);
  if (source === '' || 'error' in compiled)
    throw wrongAt(
      place,
      source === ''
        ? 'A pattern cannot be empty.'
        : `The pattern cannot be used: ${'error' in compiled ? compiled.error : ''}. Allowed: RE2 syntax, without look-around and back-references.`,
    );
  return pattern;
}

const mirrored: Readonly<Record<string, string>> = {
  '<': '>',
  '<=': '>=',
  '>': '<',
  '>=': '<=',
  '==': '==',
  '!=': '!=',
};

function comparison(node: NodeOf<'operation'>, known: KnownNames): Settings {
  const { sign, left, right } = node;
  if (!(sign in mirrored)) throw wrongAt(node, `\`${sign}\` is not supported in a condition.`);
  const swapped = literalOf(left) !== undefined;
  const value = literalOf(swapped ? left : right);
  if (value === undefined) throw wrongAt(node, 'One side of a comparison must be a literal here.');
  const other = swapped ? right : left;
  const operator = swapped ? (mirrored[sign] as string) : sign;
  if (typeof value === 'boolean') return comparedFlag(operator, { node: other, value, place: node }, known);
  const operand = fieldOf(other, `\`${sign}\``);
  if (operand.flag) throw wrongAt(node, 'A boolean is compared with true or false.');
  return typeof value === 'string'
    ? comparedText(operator, operand, value, node)
    : comparedNumber(operator, operand, value);
}

interface FlagComparison {
  readonly node: Node;
  readonly value: boolean;
  /** Where a mistake is shown. */
  readonly place: Node;
}

function comparedFlag(operator: string, { node, value, place }: FlagComparison, known: KnownNames): Settings {
  if (operator !== '==' && operator !== '!=') throw wrongAt(place, 'Booleans are only equal or not.');
  const isField = node.kind === 'field' || (node.kind === 'call' && node.name === 'get_field');
  if (isField) return comparedText(operator, fieldOf(node, `\`${operator}\``), String(value), place);
  const held = conditionOf(node, known);
  return value === (operator === '==') ? held : not(held);
}

/** What is missing is neither equal nor unequal to anything, unless it was made a text. */
function comparedText(operator: string, operand: Operand, value: string, place: Node): Settings {
  const { field, missing, letters } = operand;
  if (operator !== '==' && operator !== '!=') throw wrongAt(place, 'Texts are only equal or not here.');
  if (missing === 'zero') throw wrongAt(place, 'A number cannot be compared with a text.');
  const equal =
    value === ''
      ? missing === 'empty text'
        ? not(exists(field))
        : never
      : isOfLetters(value, operand)
        ? { field, equals: value, ...(letters === 'as they are' ? {} : { ignore_case: true }) }
        : never;
  if (operator === '==') return equal;
  return missing === 'nothing' ? { all: [exists(field), not(equal)] } : not(equal);
}

/** What cannot be made a number counts as zero where it is made one. */
function comparedNumber(operator: string, { field, missing }: Operand, value: number): Settings {
  const greater: Settings = { field, greater: value };
  const less: Settings = { field, less: value };
  const held: Readonly<Record<string, Settings>> = {
    '<': less,
    '>': greater,
    '<=': { all: [isNumber(field), not(greater)] },
    '>=': { all: [isNumber(field), not(less)] },
    '==': { all: [isNumber(field), not(greater), not(less)] },
    '!=': anyOf(greater, less),
  };
  const zeroHolds: Readonly<Record<string, boolean>> = {
    '<': 0 < value,
    '>': 0 > value,
    '<=': 0 <= value,
    '>=': 0 >= value,
    '==': value === 0,
    '!=': value !== 0,
  };
  const condition = held[operator] as Settings;
  return missing === 'zero' && zeroHolds[operator] === true ? anyOf(condition, not(isNumber(field))) : condition;
}
