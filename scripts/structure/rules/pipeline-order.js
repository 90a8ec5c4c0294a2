import { pipelineOrder } from '../layout.js';

/** Arrows between the folders of pipeline/ go one way. */
export const pipelineFlow = {
  name: 'pipeline-order',
  check({ product }) {
    const problems = product
      .filter(({ path }) => path.startsWith('pipeline/'))
      .flatMap((file) => {
        const from = folderOf(file.path);
        if (!pipelineOrder.includes(from)) return [`${from}/ has no place in the order of scripts/structure/layout.js`];
        return file.imports
          .filter(({ target }) => target.startsWith('pipeline/'))
          .filter(({ target }) => pipelineOrder.indexOf(folderOf(target)) > pipelineOrder.indexOf(from))
          .map(
            ({ target, line }) => `${file.path}:${line} imports ${target}: ${from}/ comes before ${folderOf(target)}/`,
          );
      });
    return { problems: [...new Set(problems)], figures: [] };
  },
};

/** Folders below the first level belong to it. */
const folderOf = (path) => path.split('/').slice(0, -1).slice(0, 2).join('/');
