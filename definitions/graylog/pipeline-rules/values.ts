/** Values that actions write or take apart: brought into a field first where no action can read them as they are. */
import type { Settings } from '../../stored.js';
import { patternOf } from './conditions.js';
import { operandOf } from './operands.js';
import type { Position } from '../contract.js';
import { textInvalid, wrongAt } from './problem.js';
import { argumentsOf, flagLiteral, literalOf, textLiteral, type Translating } from './translating.js';
import type { Node, NodeOf } from './tree.js';

const replacements: Readonly<Record<string, readonly string[]>> = {
  replace: ['value', 'search', 'replacement'],
  regex_replace: ['pattern', 'value', 'replacement', 'replace_all'],
};
const templateName = /^[A-Za-z0-9.@_-]+$/;
const template = /\$\{[A-Za-z0-9.@_-]+\}/;
const supportedValues =
  'a literal, $message.field, get_field, to_string, to_long, to_double, replace, regex_replace, and texts joined by + or concat';

/** Variables are what they were set to, as long as nothing that they read was written since. */
export function resolved(node: Node, translating: Translating): Node {
  if (node.kind !== 'name') return node;
  const variable = translating.variables.get(node.name);
  if (variable === undefined) throw wrongAt(node, `There is no variable ${node.name}.`);
  const written = translating.actions.slice(variable.since).find((action) => writesOne(action, variable.reads));
  if (written !== undefined)
    throw wrongAt(
      node,
      `The variable ${node.name} reads a field that is written between its \`let\` and here; this is not supported.`,
    );
  return resolved(variable.value, translating);
}

/** Writes a literal or a field's value; nothing where the value is missing. */
export function writeValue(field: string, value: Node, translating: Translating): void {
  const node = resolved(value, translating);
  const literal = literalOf(node);
  const { actions } = translating;
  if (literal !== undefined) {
    if (typeof literal === 'string' && template.test(literal))
      throw wrongAt(node, 'A text with ${...} cannot be written as it is.');
    if (literal !== '') actions.push({ set: { field, value: literal } });
    return;
  }
  if (node.kind === 'call' && Object.hasOwn(replacements, node.name)) {
    replaced(node, field, translating);
    return;
  }
  if (isJoined(node)) {
    joinTexts(node, field, translating);
    return;
  }
  writeField(field, node, translating);
}

function writeField(field: string, node: Node, { actions }: Translating): void {
  const operand = operandOf(node);
  if (operand === undefined || operand.flag || operand.letters !== 'as they are')
    throw wrongAt(node, `This value is not supported. Supported: ${supportedValues}.`);
  const { field: from, missing } = operand;
  if (missing === 'empty text' && templateName.test(from)) actions.push({ set: { field, value: `\${${from}}` } });
  else if (missing === 'zero') {
    if (from === field) actions.push({ set: { field, value: 0, overwrite: false } });
    else actions.push({ set: { field, value: 0 } }, { copy: { from, to: field } });
    actions.push({ convert: { field, to: 'number' } });
  } else {
    if (from !== field) actions.push({ copy: { from, to: field } });
    if (missing === 'empty text') actions.push({ convert: { field, to: 'string' } });
  }
}

/** The field that has the text; a temporary one where it must be made first. */
export function textField(value: Node, translating: Translating): string {
  const node = resolved(value, translating);
  const operand = operandOf(node);
  if (operand !== undefined && !operand.flag && operand.letters === 'as they are' && operand.missing !== 'zero')
    return operand.field;
  const field = temporaryField(translating);
  writeValue(field, node, translating);
  return field;
}

/** Variables that are made of variables would multiply. */
const maxActions = 300;
const temporaryPrefix = 'sluice_rule_value_';

/** Nothing is in it, whatever a sender sent under this name. */
export function temporaryField(translating: Translating): string {
  const field = `${temporaryPrefix}${translating.temporary}`;
  if (translating.actions.length > maxActions)
    throw textInvalid([{ line: 1, column: 1, message: `The rule comes to more than ${maxActions} actions.` }]);
  translating.temporary += 1;
  translating.actions.push({ remove: { fields: [field] } });
  return field;
}

export function removeTemporary({ actions, temporary }: Translating, since: number): void {
  if (temporary > since)
    actions.push({
      remove: { fields: Array.from({ length: temporary - since }, (_, place) => `${temporaryPrefix}${since + place}`) },
    });
}

function replaced(call: NodeOf<'call'>, to: string, translating: Translating): void {
  const byPattern = call.name === 'regex_replace';
  const given = argumentsOf(call, replacements[call.name] ?? [], byPattern ? 3 : 2);
  const by = given.has('replacement') ? textLiteral(given.get('replacement'), 'The replacement', call) : '';
  const field = textField(given.needed('value'), translating);
  if (!byPattern) {
    translating.actions.push({
      replace: { field, text: textLiteral(given.get('search'), 'The text to replace', call), by, to },
    });
    return;
  }
  if (/\$(?!\d)|\$\d\d|\\/.test(by)) throw wrongAt(call, 'Only $0 to $9 are supported in a replacement.');
  const pattern = patternOf(textLiteral(given.get('pattern'), 'The pattern', call), given.needed('pattern'));
  const all = given.has('replace_all') ? flagLiteral(given.get('replace_all'), '`replace_all`') : true;
  translating.actions.push({ replace: { field, pattern, by, to, ...(all ? {} : { all }) } });
}

const isJoined = (node: Node): boolean =>
  (node.kind === 'operation' && node.sign === '+') || (node.kind === 'call' && node.name === 'concat');

/** More are rarely joined; variables within variables would multiply. */
const maxParts = 50;

function addParts(node: Node, parts: Node[], translating: Translating): void {
  const one = resolved(node, translating);
  if (one.kind === 'operation' && one.sign === '+')
    [one.left, one.right].forEach((part) => addParts(part, parts, translating));
  else if (one.kind === 'call' && one.name === 'concat') {
    const given = argumentsOf(one, ['first', 'second'], 2);
    for (const name of ['first', 'second']) addParts(given.needed(name), parts, translating);
  } else parts.push(one);
  if (parts.length > maxParts) throw wrongAt(node, `More than ${maxParts} parts are joined.`);
}

/** A missing field is an empty text in it. */
function joinTexts(node: Node, to: string, translating: Translating): void {
  let text = '';
  const parts: Node[] = [];
  addParts(node, parts, translating);
  for (const part of parts) {
    const literal = literalOf(part);
    if (typeof literal === 'number') throw wrongAt(part, 'Only texts can be joined; use to_string().');
    if (literal !== undefined) text += String(literal);
    else {
      const field = temporaryField(translating);
      if (operandOf(part)?.missing === 'zero') throw wrongAt(part, 'Only texts can be joined; use to_string().');
      writeValue(field, part, translating);
      translating.actions.push({ set: { field, value: '', overwrite: false } });
      text += `\${${field}}`;
    }
  }
  const literals = text.replaceAll(/\$\{sluice_rule_value_\d+\}/g, '');
  if (template.test(literals)) throw wrongAt(node, 'A text with ${...} cannot be written as it is.');
  translating.actions.push({ set: { field: to, value: text } });
}

/** A variable is set once, from what is known by then: so none is made of itself. */
export function setVariable(name: string, value: Node, place: Position, translating: Translating): void {
  if (translating.variables.has(name))
    throw wrongAt(place, `The variable ${name} is set twice; this is not supported.`);
  const reads = new Set<string>();
  addFieldsOf(value, reads, translating);
  translating.variables.set(name, { value, since: translating.actions.length, reads });
}

function addFieldsOf(node: Node, found: Set<string>, translating: Translating): void {
  const walk = (one: Node): void => addFieldsOf(one, found, translating);
  switch (node.kind) {
    case 'field':
      found.add(node.name);
      return;
    case 'name': {
      const variable = translating.variables.get(node.name);
      if (variable === undefined) throw wrongAt(node, `There is no variable ${node.name}.`);
      for (const field of variable.reads) found.add(field);
      return;
    }
    case 'call':
      if (node.name === 'get_field') found.add(operandOf(node)?.field ?? '');
      for (const { value } of node.given) walk(value);
      return;
    case 'operation':
      walk(node.left);
      walk(node.right);
      return;
    case 'member':
    case 'not':
    case 'minus':
      walk(node.of);
      return;
    case 'map':
      for (const { value } of node.of) walk(value);
      return;
    case 'list':
    case 'all':
    case 'any':
      node.of.forEach(walk);
      return;
    default:
  }
}

function writesOne(action: Settings, read: ReadonlySet<string>): boolean {
  const written = writtenFields(action);
  return written === 'unknown' ? read.size > 0 : written.some((field) => read.has(field));
}

/** Fields that an action of a rule file writes or removes; `unknown`: such as it finds in the text. */
export function writtenFields(action: Settings): readonly string[] | 'unknown' {
  const [name = '', options] = Object.entries(action)[0] ?? [];
  const settings = (typeof options === 'object' ? options : {}) as {
    readonly field?: string;
    readonly to?: string;
    readonly from?: string;
    readonly fields?: readonly string[];
    readonly pattern?: string;
  };
  switch (name) {
    case 'route':
    case 'leave_default_stream':
    case 'drop':
      return [];
    case 'set':
    case 'convert':
      return [settings.field ?? ''];
    case 'copy':
      return [settings.to ?? ''];
    case 'replace':
      return [settings.to ?? settings.field ?? ''];
    case 'date':
      return [settings.to ?? 'timestamp'];
    case 'remove':
      return settings.fields ?? [];
    case 'regex':
      return [...(settings.pattern ?? '').matchAll(/\(\?P?<([A-Za-z_]\w*)>/g)].map(([, name = '']) => name);
    case 'rename':
      return settings.from === undefined ? 'unknown' : [settings.from, settings.to ?? ''];
    default:
      return 'unknown';
  }
}
