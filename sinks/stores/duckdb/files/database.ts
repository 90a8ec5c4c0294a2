/** The one engine instance of the process: index files are attached to it, under one memory limit. */
import { existsSync, mkdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import { toError } from '../../../../core/errors.js';
import { Retained } from '../retained/retained.js';
import { capacityOf } from './capacity.js';
import type { EngineOptions } from '../engine/contract.js';

/** Spilled sorts and aggregates may take this much disk; past that the query fails, not the disk. */
const spillBytes = 2 ** 30;

/**
 * A checkpoint writes the last, half-filled row groups anew beside the old ones. With the engine's 122,880 rows that
 * made a file of 700 MB jump to 1.1 GB at once, past any size limit; with these it grows by what came. Costs about a
 * tenth more disk.
 */
const rowGroupRows = 24_576;

/**
 * Block size of new files. Each column begins a block of its own in each row group: with the engine's 256 KiB a file
 * was 5 % larger, its words 30 %, and took 15 % more CPU to write.
 */
const blockBytes = 65_536;

/**
 * The write-ahead log could not be folded in, on a full disk for one; it is replayed when the file is attached again.
 */
const detachedAllTheSame = /Detached database .* CHECKPOINT during DETACH failed/;

export class Database {
  readonly #instance: DuckDBInstance;
  readonly #control: DuckDBConnection;
  readonly retained: Retained;
  #nextAlias = 1;

  private constructor(instance: DuckDBInstance, control: DuckDBConnection, retainedBytes: number) {
    this.retained = new Retained(retainedBytes);
    this.#instance = instance;
    this.#control = control;
  }

  static async open(options: EngineOptions): Promise<Database> {
    const spill = join(options.folder, 'spill');
    mkdirSync(spill, { recursive: true });
    const instance = await DuckDBInstance.create(':memory:', {
      memory_limit: `${Math.round(options.memoryBytes)}B`,
      threads: String(
        capacityOf(options.memoryBytes, options.threads > 0 ? options.threads : Math.max(1, availableParallelism() - 1))
          .threads,
      ),
      temp_directory: spill,
      max_temp_directory_size: `${spillBytes}B`,
      checkpoint_threshold: `${Math.round(options.checkpointBytes)}B`,
      autoinstall_known_extensions: 'false',
      autoload_known_extensions: 'false',
    });
    return new Database(instance, await instance.connect(), options.retainedBytes);
  }

  connect(): Promise<DuckDBConnection> {
    return this.#instance.connect();
  }

  /** Creates the file when it is missing. Returns the name to use in SQL, never used before. */
  async attach(path: string): Promise<string> {
    const alias = `i${this.#nextAlias}`;
    this.#nextAlias += 1;
    const created = existsSync(path) ? '' : `, BLOCK_SIZE ${blockBytes}`;
    await this.#control.run(
      `ATTACH '${path.replaceAll("'", "''")}' AS ${alias} (STORAGE_VERSION 'latest', ROW_GROUP_SIZE ${rowGroupRows}${created})`,
    );
    return alias;
  }

  sweep(): Promise<void> {
    return this.retained.sweep(this.#control);
  }

  async detach(alias: string): Promise<void> {
    try {
      await this.#control.run(`DETACH ${alias}`);
    } catch (thrown) {
      if (!detachedAllTheSame.test(toError(thrown).message)) throw thrown;
    }
  }

  close(): void {
    this.#control.closeSync();
    this.#instance.closeSync();
  }
}
