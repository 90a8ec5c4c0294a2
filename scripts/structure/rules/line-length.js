import ts from 'typescript';
import { walk } from '../tree.js';

const most = 120;

/**
 * The formatter breaks code. Comments it leaves alone: they are errors. Literals cannot be broken: they may be longer.
 */
export const lineLength = {
  name: 'line-length',
  check({ files }) {
    let long = 0;
    const problems = files.flatMap((file) => {
      const wide = file.lines.flatMap((text, at) => (text.length > most ? [at] : []));
      long += wide.length;
      if (wide.length === 0) return [];
      const literals = literalWidths(file);
      const comments = commentLines(file);
      return wide
        .filter((at) => file.lines[at].length - (literals.get(at) ?? 0) > most || comments.has(at))
        .map((at) => `${file.path}:${at + 1} is ${file.lines[at].length} wide; ${most} are allowed`);
    });
    return { problems, figures: [`lines over ${most}: ${long}, ${long - problems.length} of them by a literal`] };
  },
};

/** Characters of strings, regular expressions and whole templates by line. */
function literalWidths(file) {
  const widths = new Map();
  const visit = (node) => {
    if (!isLiteral(node)) return ts.forEachChild(node, visit);
    let at = file.ast.getLineAndCharacterOfPosition(node.getStart(file.ast)).line;
    for (const text of node.getText(file.ast).split('\n')) {
      widths.set(at, (widths.get(at) ?? 0) + text.length);
      at += 1;
    }
  };
  visit(file.ast);
  return widths;
}

const isLiteral = (node) =>
  ts.isStringLiteralLike(node) || ts.isTemplateExpression(node) || ts.isRegularExpressionLiteral(node);

/** The lines that a comment stands on. */
function commentLines(file) {
  const lines = new Set();
  const add = (ranges) => {
    for (const { pos, end } of ranges ?? []) {
      const last = file.ast.getLineAndCharacterOfPosition(end).line;
      for (let at = file.ast.getLineAndCharacterOfPosition(pos).line; at <= last; at += 1) lines.add(at);
    }
  };
  walk(file, (node) => {
    add(ts.getLeadingCommentRanges(file.text, node.pos));
    add(ts.getTrailingCommentRanges(file.text, node.end));
  });
  return lines;
}
