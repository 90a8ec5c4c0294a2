import { percentile, spread } from '../figures.js';

const most = { median: 110, p95: 260, max: 500 };

export const fileSize = {
  name: 'file-size',
  check({ files, product }) {
    const problems = files
      .filter(({ lines }) => lines.length > most.max)
      .map(({ path, lines }) => `${path} has ${lines.length} lines; ${most.max} are allowed`);
    const sizes = product.map(({ lines }) => lines.length);
    for (const [which, share] of [
      ['median', 0.5],
      ['p95', 0.95],
    ]) {
      const size = percentile(sizes, share);
      if (size > most[which]) problems.push(`the ${which} of the files is ${size} lines; ${most[which]} are allowed`);
    }
    return { problems, figures: [`${product.length} files of the product: ${spread(sizes)} lines`] };
  },
};
