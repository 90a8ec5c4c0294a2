/**
 * Looks up what a sender literally wrote for a top-level field: digits beyond 2^53, and nested values as JSON text. The
 * text has been parsed before.
 */
import { endOfString, parseLenient, skipSpace } from './lenient-json.js';

/** The literal text of each top-level member's value, by name; of duplicate names the last, as the parser takes it. */
export function literalsOf(text: string): ReadonlyMap<string, string> {
  const literals = new Map<string, string>();
  let at = skipSpace(text, text.indexOf('{') + 1);
  while (at < text.length && text[at] === '"') {
    const endOfName = endOfString(text, at);
    const name = nameOf(text.slice(at, endOfName));
    const start = skipSpace(text, skipSpace(text, endOfName) + 1);
    const end = endOfValue(text, start);
    literals.set(name, text.slice(start, end));
    at = skipSpace(text, end);
    if (text[at] === ',') at = skipSpace(text, at + 1);
  }
  return literals;
}

function nameOf(literal: string): string {
  if (!literal.includes('\\')) return literal.slice(1, -1);
  const name = parseLenient(literal);
  return 'value' in name ? String(name.value) : literal;
}

function endOfValue(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < text.length; at += 1) {
    const char = text[at];
    if (char === '"') {
      at = endOfString(text, at) - 1;
      if (depth === 0) return at + 1;
    } else if (char === '{' || char === '[') {
      depth += 1;
    } else if (char === '}' || char === ']') {
      if (depth <= 1) return depth === 1 ? at + 1 : at;
      depth -= 1;
    } else if (depth === 0 && (char === ',' || skipSpace(text, at) !== at)) {
      return at;
    }
  }
  return text.length;
}

/**
 * The same JSON without white space between its tokens, without trailing commas, and with control characters in strings
 * escaped; numbers as written.
 */
export function compactJson(json: string): string {
  if (!/[\u0000-\u0020]|,[\]}]/.test(json)) return json;
  const parts: string[] = [];
  for (let at = skipSpace(json, 0); at < json.length; at = skipSpace(json, at)) {
    if (json[at] === '"') {
      const end = endOfString(json, at);
      parts.push(escapeControls(json.slice(at, end)));
      at = end;
      continue;
    }
    let end = at + 1;
    if (json[at] === ',') {
      const next = json[skipSpace(json, end)];
      if (next !== '}' && next !== ']') parts.push(',');
    } else {
      while (end < json.length && json[end] !== '"' && json[end] !== ',' && skipSpace(json, end) === end) end += 1;
      parts.push(json.slice(at, end));
    }
    at = end;
  }
  return parts.join('');
}

function escapeControls(literal: string): string {
  return literal.replace(/[\u0000-\u001f]/g, (character) => JSON.stringify(character).slice(1, -1));
}
