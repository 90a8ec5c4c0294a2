/** The store inside its worker thread. Its groups' public methods are what the main thread may call. */
import { Catalog } from '../files/catalog.js';
import type { WordFigures } from '../words/options.js';
import { WordIndexer } from '../words/word-indexer.js';
import { WriteQueue } from '../write/write-queue.js';
import type { EngineOptions } from './contract.js';
import { EngineControl } from './engine-control.js';
import { EngineDocuments } from './engine-documents.js';
import { EngineIndices } from './engine-indices.js';
import { EngineQueries } from './engine-queries.js';
import { Readers } from './readers.js';

interface EngineEvents {
  /** The thread may be ended. */
  readonly onHalted: () => void;
  /** Bytes that searches retain for those that come next. */
  readonly onRetained: (bytes: number) => void;
  readonly words: WordFigures;
}

export class Engine {
  readonly control: EngineControl;
  readonly indices: EngineIndices;
  readonly documents: EngineDocuments;
  readonly queries: EngineQueries;

  constructor(options: EngineOptions, { onHalted, onRetained, words: figures }: EngineEvents) {
    const catalog = new Catalog(options, () => {
      searches.interruptAll();
    });
    const readers = new Readers(catalog, onRetained);
    const { searches } = readers;
    const writes = new WriteQueue(catalog, options.lingerMs);
    const load = () => ({ perSecond: writes.rate.perSecond, searches: searches.size });
    const words = new WordIndexer(catalog, options.words, load, figures);
    this.control = new EngineControl({ catalog, writes, searches, words, onRetained, onHalted });
    this.indices = new EngineIndices(catalog);
    this.documents = new EngineDocuments(catalog, writes, readers);
    this.queries = new EngineQueries(catalog, readers);
  }
}
