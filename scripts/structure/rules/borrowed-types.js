import ts from 'typescript';
import { lineOf, walk } from '../tree.js';

const borrowers = new Set(['ReturnType', 'Parameters', 'ConstructorParameters', 'InstanceType']);

/** A type that others need has a name in its own folder; it is not worked out from a function there. */
export const borrowedTypes = {
  name: 'borrowed-types',
  check({ product }) {
    const problems = product.flatMap((file) => {
      const foreign = foreignNames(file);
      const found = [];
      walk(file, (node) => {
        if (!ts.isTypeReferenceNode(node) || !borrowers.has(node.typeName.getText())) return;
        const subject = node.typeArguments?.[0];
        const name = subject === undefined ? undefined : rootName(subject);
        const target = foreign.get(name);
        if (target !== undefined)
          found.push(
            `${file.path}:${lineOf(file, node)} takes ${node.getText()} of ${target}: give that type a name there`,
          );
      });
      return found;
    });
    return { problems, figures: [] };
  },
};

function foreignNames(file) {
  const names = new Map();
  for (const { target, node } of file.imports) {
    if (target.split('/').slice(0, -1).join('/') === file.folder || !ts.isImportDeclaration(node)) continue;
    const bindings = node.importClause?.namedBindings;
    if (bindings === undefined) continue;
    if (ts.isNamespaceImport(bindings)) names.set(bindings.name.text, target);
    else for (const element of bindings.elements) names.set(element.name.text, target);
  }
  return names;
}

/** `Searcher` of `typeof searcher.run`, `Searcher['run']` and `Searcher`. */
function rootName(type) {
  if (ts.isTypeQueryNode(type)) return type.exprName.getText().split('.')[0];
  if (ts.isIndexedAccessTypeNode(type)) return rootName(type.objectType);
  if (ts.isTypeReferenceNode(type)) {
    const [inner] = type.typeArguments ?? [];
    return inner === undefined ? type.typeName.getText().split('.')[0] : rootName(inner);
  }
  if (ts.isParenthesizedTypeNode(type)) return rootName(type.type);
  return undefined;
}
