import { ports } from '../layout.js';

/** Which adapters a port has is known to the port itself and to the program. */
export const registries = {
  name: 'registries',
  check({ product }) {
    const problems = product.flatMap(({ path, imports }) =>
      imports
        .filter(({ target }) => {
          const port = ports.find((folder) => target === `${folder}/registry.ts`);
          return port !== undefined && !path.startsWith(`${port}/`) && !path.startsWith('program/');
        })
        .map(({ target, line }) => `${path}:${line} imports ${target}: only program/ sees the registry of a port`),
    );
    return { problems, figures: [] };
  },
};
