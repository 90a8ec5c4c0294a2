/** Statements of Graylog pipeline rules → actions of rule files. */
import type { Settings } from '../../stored.js';
import { patternOf } from './conditions.js';
import { grokText, hasNamedGroup, namedGroupProblem } from './grok-text.js';
import { withNamedGroup } from './groups.js';
import { wrongAt } from './problem.js';
import {
  argumentsOf,
  fieldName,
  flagLiteral,
  literalOf,
  streamOf,
  textLiteral,
  type Translating,
} from './translating.js';
import type { Node, NodeOf, Statement } from './tree.js';
import { removeTemporary, resolved, setVariable, temporaryField, textField, writeValue } from './values.js';

type Call = NodeOf<'call'>;
type Run = (call: Call, translating: Translating) => void;

const statements: Readonly<Record<string, Run>> = {
  route_to_stream: routeToStream,
  remove_from_stream: removeFromStream,
  drop_message: (call, { actions }) => {
    argumentsOf(call, [], 0);
    actions.push({ drop: true });
  },
  remove_field: (call, { actions }) =>
    void actions.push({ remove: { fields: [exactName(argumentsOf(call, ['field'], 1).get('field'), call)] } }),
  remove_single_field: (call, { actions }) =>
    void actions.push({ remove: { fields: [nameIn(argumentsOf(call, ['field'], 1).get('field'), call)] } }),
  remove_multiple_fields: (call, { actions }) =>
    void actions.push({ remove: { fields: namesIn(argumentsOf(call, ['names'], 1).needed('names')) } }),
  rename_field: (call, { actions }) => {
    const given = argumentsOf(call, ['old_field', 'new_field'], 2);
    actions.push({ rename: { from: nameIn(given.get('old_field'), call), to: nameIn(given.get('new_field'), call) } });
  },
  set_field: (call, translating) => {
    const given = argumentsOf(call, ['field', 'value'], 2);
    setField(nameIn(given.get('field'), call), given.needed('value'), translating);
  },
  set_fields: setFields,
};

const supportedStatements = ['let', ...Object.keys(statements)].join(', ');

export function translateStatement(statement: Statement, translating: Translating): void {
  if (statement.kind === 'let') {
    setVariable(statement.name, statement.value, statement, translating);
    return;
  }
  const { call } = statement;
  const run = Object.hasOwn(statements, call.name) ? statements[call.name] : undefined;
  if (run === undefined)
    throw wrongAt(
      call,
      `The function ${call.name}() is not supported as a statement. Supported: ${supportedStatements}.`,
    );
  const since = translating.temporary;
  run(call, translating);
  removeTemporary(translating, since);
}

const nameIn = (node: Node | undefined, call: Call): string =>
  fieldName(textLiteral(node, 'The name of a field', call), node ?? call);

/** In Graylog remove_field also takes a pattern of names. */
function exactName(node: Node | undefined, call: Call): string {
  const name = nameIn(node, call);
  if (!/^[A-Za-z0-9_@.-]+$/.test(name))
    throw wrongAt(
      node ?? call,
      'A pattern of names is not supported here; name the fields, each in a statement of its own.',
    );
  return name;
}

function namesIn(node: Node): string[] {
  if (node.kind !== 'list' || node.of.length === 0) throw wrongAt(node, 'Expected a list of names here.');
  return node.of.map((one) => fieldName(textLiteral(one, 'The name of a field', one), one));
}

function routeToStream(call: Call, translating: Translating): void {
  const given = argumentsOf(call, ['name', 'id', 'message', 'remove_from_default'], 0);
  assertThisMessage(given.get('message'));
  translating.actions.push({
    route: { stream: streamOf(translating, { id: given.get('id'), name: given.get('name') }, call) },
  });
  if (flagLiteral(given.get('remove_from_default'), '`remove_from_default`'))
    translating.actions.push({ leave_default_stream: true });
}

function removeFromStream(call: Call, translating: Translating): void {
  const given = argumentsOf(call, ['name', 'id', 'message'], 0);
  assertThisMessage(given.get('message'));
  if (streamOf(translating, { id: given.get('id'), name: given.get('name') }, call) !== 'all-messages')
    throw wrongAt(call, 'Only the default stream can be left: other streams hold what their conditions say.');
  translating.actions.push({ leave_default_stream: true });
}

function assertThisMessage(node: Node | undefined): void {
  if (node !== undefined && !(node.kind === 'name' && node.name === '$message'))
    throw wrongAt(node, 'Only the message itself can be meant here: $message.');
}

/** A part that a pattern found, or a value. */
function setField(field: string, value: Node, translating: Translating): void {
  const node = resolved(value, translating);
  if (node.kind !== 'member') {
    writeValue(field, node, translating);
    return;
  }
  const of = resolved(node.of, translating);
  const map = of.kind === 'member' && literalOf(of.key) === 'groups' ? resolved(of.of, translating) : of;
  if (map.kind !== 'call' || map.name !== 'regex')
    throw wrongAt(
      node,
      'Only a group of regex() can be taken out here: regex("(...)", value)["0"]; the members of parse_json() and grok() become fields with set_fields().',
    );
  const number = Number(literalOf(node.key));
  const given = argumentsOf(map, ['pattern', 'value'], 2);
  const pattern = patternOf(textLiteral(given.get('pattern'), 'The pattern', map), given.needed('pattern'));
  const isName = /^[A-Za-z_][A-Za-z0-9_]*$/.test(field);
  const to = isName ? field : temporaryField(translating);
  const named = Number.isInteger(number) ? withNamedGroup(pattern, number, to) : undefined;
  if (named === undefined)
    throw wrongAt(
      node.key,
      `The pattern has no group ${JSON.stringify(literalOf(node.key) ?? '')}; the first one is "0".`,
    );
  translating.actions.push({
    regex: { field: textField(given.needed('value'), translating), pattern: withoutOtherNames(named, to) },
  });
  if (!isName) translating.actions.push({ copy: { from: to, to: field } });
}

/** Else the others would become fields as well. */
function withoutOtherNames(pattern: string, name: string): string {
  return pattern.replaceAll(/\(\?P?<([A-Za-z_]\w*)>/g, (group, other: string) => (other === name ? group : '('));
}

function setFields(call: Call, translating: Translating): void {
  const given = argumentsOf(call, ['fields', 'prefix'], 1);
  const prefix = given.has('prefix') ? textLiteral(given.get('prefix'), 'The prefix', call) : '';
  const map = mapOf(given.needed('fields'), translating);
  if (map.kind === 'map')
    for (const { key, value } of map.of) setField(fieldName(`${prefix}${key}`, map), value, translating);
  else if (map.kind !== 'call') throw notAMap(map);
  else if (map.name === 'parse_json') fieldsOfJson(map, prefix, translating);
  else if (map.name === 'grok') fieldsOfGrok(map, prefix, translating);
  else if (map.name === 'regex') fieldsOfRegex(map, prefix, translating);
  else throw notAMap(map);
}

const notAMap = (node: Node): Error =>
  wrongAt(
    node,
    'This map is not supported. Supported: parse_json(...), to_map(parse_json(...)), grok(...), regex(...) with group_names, and {key: value}.',
  );

function mapOf(node: Node, translating: Translating): Node {
  const one = resolved(node, translating);
  return one.kind === 'call' && one.name === 'to_map'
    ? mapOf(argumentsOf(one, ['value'], 1).needed('value'), translating)
    : one;
}

function fieldsOfJson(call: Call, prefix: string, translating: Translating): void {
  const field = textField(argumentsOf(call, ['value'], 1).needed('value'), translating);
  translating.actions.push({ parse_json: { field, overwrite: true, ...optionalPrefix(prefix) } });
}

const optionalPrefix = (prefix: string): Settings => (prefix === '' ? {} : { prefix });

function fieldsOfGrok(call: Call, prefix: string, translating: Translating): void {
  const given = argumentsOf(call, ['pattern', 'value', 'only_named_captures'], 2);
  const text = textLiteral(given.get('pattern'), 'The pattern', call);
  if (hasNamedGroup(text)) throw wrongAt(given.get('pattern') ?? call, namedGroupProblem);
  const pattern = grokText(text, {
    prefix,
    onlyNamed: flagLiteral(given.get('only_named_captures'), '`only_named_captures`'),
  });
  translating.actions.push({ grok: { field: textField(given.needed('value'), translating), pattern } });
}

function fieldsOfRegex(call: Call, prefix: string, translating: Translating): void {
  const given = argumentsOf(call, ['pattern', 'value', 'group_names'], 2);
  const names = given.get('group_names');
  if (names === undefined)
    throw wrongAt(call, 'regex() needs group_names here: without them its fields would be called 0, 1 and so on.');
  let pattern: string | undefined = patternOf(
    textLiteral(given.get('pattern'), 'The pattern', call),
    given.needed('pattern'),
  );
  for (const [number, name] of namesIn(names).entries()) {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(`${prefix}${name}`))
      throw wrongAt(names, 'A group is called by letters, digits and _ here.');
    pattern = pattern === undefined ? undefined : withNamedGroup(pattern, number, `${prefix}${name}`);
  }
  if (pattern === undefined) throw wrongAt(names, 'There are more names than groups.');
  translating.actions.push({ regex: { field: textField(given.needed('value'), translating), pattern } });
}
