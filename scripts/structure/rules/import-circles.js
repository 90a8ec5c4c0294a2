/** Imports of types count: who has to know whom does not depend on what runs. */
export const importCircles = {
  name: 'import-circles',
  check({ product }) {
    const byPath = new Map(product.map((file) => [file.path, file]));
    const state = new Map();
    const way = [];
    const problems = [];
    const visit = (path) => {
      if (state.get(path) === 'done') return;
      if (state.get(path) === 'open') {
        problems.push(`import circle: ${[...way.slice(way.indexOf(path)), path].join(' -> ')}`);
        return;
      }
      state.set(path, 'open');
      way.push(path);
      for (const { target } of byPath.get(path).imports) if (byPath.has(target)) visit(target);
      way.pop();
      state.set(path, 'done');
    };
    for (const { path } of product) visit(path);
    return { problems, figures: [`import circles: ${problems.length}`] };
  },
};
