/** The table of `docs/upgrading.md`, from what `core/formats/versions.ts` declares. */
import { currentVersion, type FormatVersion } from './versions.js';

const begin = '<!-- formats: generated from core/formats/versions.ts by `npm run docs` -->';
const end = '<!-- end of formats -->';

/** The page with its generated part made anew. */
export function upgradingPage(page: string, formats: Readonly<Record<string, FormatVersion>>): string {
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`the page has no part between ${begin} and ${end}`);
  return `${page.slice(0, from + begin.length)}\n\n${formatsReference(Object.values(formats))}\n${page.slice(to)}`;
}

function formatsReference(formats: readonly FormatVersion[]): string {
  return formats
    .map((format) => {
      const { name, where, oldest, versions, older, newer, shared } = format;
      const current = currentVersion(format);
      const history = versions
        .map(
          ({ version, since, minimumReader, what }) =>
            `  - ${version}, since ${since}: ${what}${minimumReader === version ? '' : ` (programs that know version ${minimumReader} may go on)`}`,
        )
        .join('\n');
      return `### ${name.charAt(0).toUpperCase()}${name.slice(1)}

- version: ${current}${oldest === current ? '' : `; ${oldest === 0 ? 'data without a version' : `versions from ${oldest}`} can be read too`}
- stands in: ${where}
- ${shared ? 'shared by running programs' : 'of one program'}
- older: ${older}
- newer: ${newer}
- versions:
${history}
`;
    })
    .join('\n');
}
