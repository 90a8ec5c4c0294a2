/** The functions of a file with a body, closures included, each with its lines from the first to the last. */
import ts from 'typescript';
import { walk } from './tree.js';

const kinds = new Set([
  ts.SyntaxKind.FunctionDeclaration,
  ts.SyntaxKind.FunctionExpression,
  ts.SyntaxKind.ArrowFunction,
  ts.SyntaxKind.MethodDeclaration,
  ts.SyntaxKind.Constructor,
  ts.SyntaxKind.GetAccessor,
  ts.SyntaxKind.SetAccessor,
]);

export function functionsOf(file) {
  const found = [];
  walk(file, (node) => {
    if (!kinds.has(node.kind) || node.body === undefined) return;
    const first = file.ast.getLineAndCharacterOfPosition(node.getStart(file.ast)).line;
    const last = file.ast.getLineAndCharacterOfPosition(node.end).line;
    found.push({
      name: nameOf(node),
      line: first + 1,
      lines: last - first + 1,
      parameters: node.parameters.filter(({ name }) => name.getText() !== 'this').length,
    });
  });
  return found;
}

function nameOf(node) {
  if (ts.isConstructorDeclaration(node)) return 'constructor';
  const named = node.name ?? node.parent.name;
  return named === undefined ? 'a function' : named.getText();
}
