import { allowed, stages } from '../layout.js';

/** Folders import only what the table of the layout allows. */
export const layout = {
  name: 'layout',
  check({ product }) {
    const problems = product.flatMap((file) =>
      file.imports.flatMap(({ target, line }) => {
        const [from, to] = [topOf(file.path), topOf(target)];
        const trouble = to === undefined || from === to ? undefined : troubleOf(from, to, target);
        return trouble === undefined ? [] : [`${file.path}:${line} imports ${target}: ${trouble}`];
      }),
    );
    return { problems, figures: [] };
  },
};

/** Undefined for the main modules beside the folders. */
const topOf = (path) => (path.includes('/') ? path.split('/')[0] : undefined);

function troubleOf(from, to, target) {
  if (to === 'test' || to === 'bench') return 'the product does not need its tests';
  if (from === undefined) return undefined;
  const may = allowed[from];
  if (may === undefined) return `${from}/ has no line in scripts/structure/layout.js`;
  if (may.includes(to)) return undefined;
  if (may.includes(`${to}/contract`))
    return target.endsWith('/contract.ts') ? undefined : `${from}/ may import the contract of ${to}/ only`;
  if (stages.includes(from) && stages.includes(to)) return 'stages do not import each other';
  return `${from}/ may not import ${to}/`;
}
