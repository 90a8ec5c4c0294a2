/** The sources of a tree, parsed: what every rule looks at. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import ts from 'typescript';

const left = new Set(['node_modules', 'data', 'docs', 'examples', 'ops', 'fixtures']);

function sourcesIn(root, folder = '') {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (entry.isDirectory()) return left.has(entry.name) || /^(\.|build)/.test(entry.name) ? [] : sourcesIn(root, path);
    return /\.ts$/.test(entry.name) || /^(scripts|bin)\/.*\.js$/.test(path) ? [path] : [];
  });
}

function partOf(path) {
  const folder = path.split('/')[0];
  if (folder === 'test' || folder === 'bench') return folder;
  return folder === 'scripts' || folder === 'bin' || path === 'eslint.config.js' ? 'scripts' : 'product';
}

/** `names` is undefined where everything may be taken: a namespace, or an import at run time. */
function importsOf(file, paths) {
  const found = [];
  const add = (node, specifier, names) => {
    if (!specifier.startsWith('.')) return;
    const target = normalize(join(dirname(file.path), specifier)).replace(/\.js$/, '.ts');
    if (paths.has(target)) found.push({ target, names, line: lineOf(file, node), node });
  };
  const visit = (node) => {
    if (ts.isImportDeclaration(node)) add(node, node.moduleSpecifier.text, importedNames(node.importClause));
    else if (ts.isExportDeclaration(node) && node.moduleSpecifier !== undefined)
      add(node, node.moduleSpecifier.text, node.exportClause?.elements?.map(originalName));
    else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument))
      add(node, node.argument.literal.text, node.qualifier === undefined ? undefined : [firstName(node.qualifier)]);
    else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      const [specifier] = node.arguments;
      if (specifier !== undefined && ts.isStringLiteralLike(specifier)) add(node, specifier.text, undefined);
    }
    ts.forEachChild(node, visit);
  };
  visit(file.ast);
  return found;
}

function importedNames(clause) {
  if (clause === undefined) return [];
  if (clause.namedBindings !== undefined && ts.isNamespaceImport(clause.namedBindings)) return undefined;
  const names = clause.namedBindings?.elements.map(originalName) ?? [];
  return clause.name === undefined ? names : [...names, 'default'];
}

const originalName = (element) => (element.propertyName ?? element.name).text;
const firstName = (name) => (ts.isQualifiedName(name) ? firstName(name.left) : name.text);

export function lineOf(file, node) {
  return file.ast.getLineAndCharacterOfPosition(node.getStart(file.ast)).line + 1;
}

/** All nodes of the file, outer ones first. */
export function walk(file, visit) {
  const each = (node) => {
    visit(node);
    ts.forEachChild(node, each);
  };
  each(file.ast);
}

export function readTree(root) {
  const files = sourcesIn(root)
    .sort()
    .map((path) => {
      const text = readFileSync(join(root, path), 'utf8');
      const ast = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
      return { path, folder: dirname(path), part: partOf(path), text, lines: text.replace(/\n$/, '').split('\n'), ast };
    });
  const paths = new Set(files.map(({ path }) => path));
  for (const file of files) file.imports = importsOf(file, paths);
  return { files, product: files.filter(({ part }) => part === 'product') };
}
