import ts from 'typescript';
import { lineOf, walk } from '../tree.js';

/**
 * What a file exports and nobody takes is not an export. What only tests take is a warning: they speak through public
 * faces.
 */
export const unusedExports = {
  name: 'unused-exports',
  check({ files }) {
    const users = usersOf(files);
    const problems = [];
    const warnings = [];
    for (const file of files.filter(({ part }) => part !== 'scripts'))
      for (const { name, line } of exportsOf(file)) {
        const takers = new Set([...(users.get(`${file.path} ${name}`) ?? []), ...(users.get(`${file.path} *`) ?? [])]);
        const where = `${file.path}:${line} exports ${name}`;
        if (takers.size === 0) problems.push(`${where}, which nobody imports`);
        else if (file.part === 'product' && [...takers].every((part) => part === 'test'))
          warnings.push(`${where}, which only tests import`);
      }
    return { problems, warnings, figures: [`exports that only tests import: ${warnings.length}`] };
  },
};

/** By 'file name', the parts of the tree whose files import it. Scripts name compiled files in strings. */
function usersOf(files) {
  const users = new Map();
  const add = (key, part) => users.set(key, (users.get(key) ?? new Set()).add(part));
  for (const { part, imports } of files)
    for (const { target, names } of imports) for (const name of names ?? ['*']) add(`${target} ${name}`, part);
  for (const file of files.filter(({ part }) => part === 'scripts')) {
    const targets = [];
    const names = new Set();
    walk(file, (node) => {
      if (ts.isStringLiteral(node) && /^[\w/-]+\.js$/.test(node.text)) targets.push(node.text.replace(/js$/, 'ts'));
      if (ts.isIdentifier(node)) names.add(node.text);
    });
    for (const target of targets) for (const name of names) add(`${target} ${name}`, 'scripts');
  }
  return users;
}

function exportsOf(file) {
  return file.ast.statements.flatMap((node) => {
    const at = (name) => ({ name: name.text, line: lineOf(file, name) });
    if (ts.isExportDeclaration(node)) return node.exportClause?.elements?.map(({ name }) => at(name)) ?? [];
    if (node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) !== true) return [];
    if (ts.isVariableStatement(node))
      return node.declarationList.declarations.flatMap(({ name }) => namesIn(name).map(at));
    return node.name === undefined ? [] : [at(node.name)];
  });
}

const namesIn = (name) => (ts.isIdentifier(name) ? [name] : name.elements.flatMap((element) => namesIn(element.name)));
