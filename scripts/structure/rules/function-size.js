import { percentile, spread } from '../figures.js';
import { functionsOf } from '../functions.js';

const most = { p95: 40, max: 90 };

/** Tests are exempt: their functions are tables of cases, which are read from top to bottom. */
export const functionSize = {
  name: 'function-size',
  check({ files, product }) {
    const problems = files
      .filter(({ part }) => part !== 'test')
      .flatMap((file) => functionsOf(file).map((one) => ({ ...one, path: file.path })))
      .filter(({ lines }) => lines > most.max)
      .map(({ path, line, name, lines }) => `${path}:${line} ${name} has ${lines} lines; ${most.max} are allowed`);
    const sizes = product.flatMap(functionsOf).map(({ lines }) => lines);
    const p95 = percentile(sizes, 0.95);
    if (p95 > most.p95) problems.push(`the p95 of the functions is ${p95} lines; ${most.p95} are allowed`);
    return { problems, figures: [`${sizes.length} functions of the product: ${spread(sizes)} lines`] };
  },
};
