/** Writes a tree as query text that parses to the same tree. */
import { at } from '../../core/at.js';
import type { QueryNode, RangeEnd } from '../../schemas/query.js';
import { timeFields } from '../../schemas/index-fields.js';
import { aliasPairs } from './leaves.js';

const secondNames = new Map(aliasPairs.map(([first, second]) => [first, second]));

export function printQuery(node: QueryNode): string {
  switch (node.kind) {
    case 'all':
      return '*';
    case 'none':
      return 'NOT *';
    case 'and':
      return node.children.map(printInner).join(' AND ');
    case 'or':
      return printAlternatives(node.children).join(' OR ');
    case 'not':
      return `NOT ${printInner(node.child)}`;
    default:
      return printLeaf(node);
  }
}

/** An alternative of both names of one thing is one clause in the text. */
function printAlternatives(children: readonly QueryNode[]): string[] {
  const printed: string[] = [];
  for (let index = 0; index < children.length; index += 1) {
    const child = at(children, index);
    printed.push(printInner(child));
    if (isAliasOf(child, children[index + 1])) index += 1;
  }
  return printed;
}

function isAliasOf(left: QueryNode, right: QueryNode | undefined): boolean {
  if (right === undefined || !('field' in left) || left.field === undefined || !('field' in right)) return false;
  return (
    secondNames.get(left.field) === right.field &&
    printLeaf({ ...left, field: '_' }) === printLeaf({ ...right, field: '_' })
  );
}

function printInner(node: QueryNode): string {
  const inner = printQuery(node);
  const isGroup = node.kind === 'and' || node.kind === 'or' || node.kind === 'none';
  return isGroup ? `(${inner})` : inner;
}

type Leaf = Exclude<QueryNode, { readonly kind: 'and' | 'or' | 'not' | 'all' | 'none' }>;

function printLeaf(node: Leaf): string {
  const name = node.field === undefined ? '' : `${escapeText(node.field)}:`;
  switch (node.kind) {
    case 'exists':
      return `_exists_:${escapeText(node.field)}`;
    case 'term':
      return `${name}${escapeText(node.text)}`;
    case 'phrase':
      return `${name}"${node.text.replace(/["\\]/g, '\\$&')}"`;
    case 'wildcard':
      return `${name}${node.pattern
        .split(/([*?])/)
        .map((part, index) => (index % 2 === 1 ? part : escapeText(part)))
        .join('')}`;
    case 'regex':
      return `${name}/${node.pattern.replace(/\\[\s\S]|\//g, (part) => (part === '/' ? '\\/' : part))}/`;
    case 'range': {
      const time = timeFields.has(node.field);
      const opening = node.from === undefined || node.from.inclusive ? '[' : '{';
      return `${name}${opening}${printEnd(node.from, time)} TO ${printEnd(node.to, time)}${node.to === undefined || node.to.inclusive ? ']' : '}'}`;
    }
  }
}

function printEnd(end: RangeEnd | undefined, time: boolean): string {
  if (end === undefined) return '*';
  if (time && typeof end.value === 'number') return isoTime(end.value);
  return typeof end.value === 'number' ? String(end.value) : `"${end.value.replace(/["\\]/g, '\\$&')}"`;
}

/** Years beyond four digits have no place in the query's ISO form: milliseconds stand for them. */
function isoTime(time: number): string {
  const text = new Date(time).toISOString();
  return /^\d{4}-/.test(text) ? text : String(time);
}

function escapeText(text: string): string {
  const escaped = text.replace(/[^\p{L}\p{N}_.@%#,;$=]/gu, (one) => `\\${one}`);
  return /^(?:and|or|not)$/i.test(escaped) ? `\\${escaped}` : escaped;
}
