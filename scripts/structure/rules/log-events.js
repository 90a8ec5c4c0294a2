import ts from 'typescript';
import { lineOf, walk } from '../tree.js';

const levels = new Set(['debug', 'info', 'warn', 'error', 'fatal']);

/** Lines of the log are declared events: with a name to look for, and on the reference page. */
export const logEvents = {
  name: 'log-events',
  check({ product }) {
    const problems = product.flatMap((file) => {
      const found = [];
      walk(file, (node) => {
        if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression) && isLog(node.expression))
          found.push(`${file.path}:${lineOf(file, node)} writes to the log: declare an event in events.ts`);
      });
      return found;
    });
    return { problems, figures: [] };
  },
};

const isLog = ({ name, expression }) => levels.has(name.text) && /(^|\.#?|#)log$/.test(expression.getText());
