import ts from 'typescript';
import { lineOf } from '../tree.js';

/** One name everywhere. */
export const defaultExports = {
  name: 'default-exports',
  check({ files }) {
    const problems = files
      .filter(({ path }) => path.endsWith('.ts'))
      .flatMap((file) =>
        file.ast.statements
          .filter(
            (node) =>
              ts.isExportAssignment(node) ||
              node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.DefaultKeyword) === true,
          )
          .map((node) => `${file.path}:${lineOf(file, node)} has a default export: named exports only`),
      );
    return { problems, figures: [] };
  },
};
