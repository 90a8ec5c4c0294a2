/** How many documents to read at once. */

/** Documents of the first page of a scan, and most of any page. */
const firstPage = 200;
const largestPage = 2_500;
/** Of one page of documents, in characters of their texts. */
const pageCharacters = 2 ** 21;

/** How many documents to read at once, by the size of those read before: large ones come a few at a time. */
export class PageSize {
  #size = firstPage;

  get size(): number {
    return this.#size;
  }

  learn(documents: readonly Readonly<Record<string, unknown>>[]): void {
    if (documents.length === 0) return;
    const characters = documents.reduce((sum, document) => sum + charactersOf(document), 0);
    const fitting = Math.floor((pageCharacters * documents.length) / Math.max(1, characters));
    this.#size = Math.max(1, Math.min(fitting, this.#size * 4, largestPage));
  }
}

function charactersOf(document: Readonly<Record<string, unknown>>): number {
  let sum = 0;
  for (const name in document) {
    const value = document[name];
    sum += name.length + (typeof value === 'string' ? value.length : 8);
  }
  return sum;
}
