import ts from 'typescript';
import { lineOf, walk } from '../tree.js';

const globals = new Set(Object.getOwnPropertyNames(globalThis));

/** Who reads `process` or `URL` may believe that it is the one of the platform. */
export const shadowedGlobals = {
  name: 'shadowed-globals',
  check({ files }) {
    const problems = files.flatMap((file) => {
      const found = [];
      walk(file, (node) => {
        const name = boundName(node);
        if (name !== undefined && globals.has(name.text) && !isPlatform(node))
          found.push(`${file.path}:${lineOf(file, name)} ${name.text} shadows a global: give it a name of its own`);
      });
      return found;
    });
    return { problems, figures: [] };
  },
};

/** The name that a declaration binds in a scope; names of members are none. */
function boundName(node) {
  const binds =
    ts.isVariableDeclaration(node) ||
    ts.isBindingElement(node) ||
    (ts.isParameter(node) && node.parent.kind !== ts.SyntaxKind.FunctionType) ||
    ts.isFunctionDeclaration(node) ||
    ts.isFunctionExpression(node) ||
    ts.isClassLike(node) ||
    ts.isInterfaceDeclaration(node) ||
    ts.isTypeAliasDeclaration(node) ||
    ts.isImportSpecifier(node) ||
    ts.isImportClause(node) ||
    ts.isNamespaceImport(node);
  return binds && node.name !== undefined && ts.isIdentifier(node.name) ? node.name : undefined;
}

/**
 * `import { performance } from 'node:perf_hooks'` is the global itself; timers/promises are others of the same name.
 */
function isPlatform(node) {
  let at = node;
  while (at !== undefined && !ts.isImportDeclaration(at)) at = at.parent;
  const from = at?.moduleSpecifier.text;
  return from !== undefined && from.startsWith('node:') && !from.endsWith('/promises');
}
