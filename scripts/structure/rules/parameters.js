import { functionsOf } from '../functions.js';

const most = 4;

export const parameters = {
  name: 'parameters',
  check({ files }) {
    const all = files
      .filter(({ part }) => part !== 'test')
      .flatMap((file) => functionsOf(file).map((one) => ({ ...one, path: file.path })));
    return {
      problems: all
        .filter((one) => one.parameters > most)
        .map(
          ({ path, line, name, parameters: count }) =>
            `${path}:${line} ${name} takes ${count} parameters; ${most} are allowed: hand over an object`,
        ),
      figures: [`most parameters of a function: ${Math.max(0, ...all.map((one) => one.parameters))}`],
    };
  },
};
