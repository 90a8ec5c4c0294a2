/**
 * A topic log: named topics of numbered partitions, each an ordered sequence of records at consecutive offsets.
 * Two adapters, one suite: `test/topics/contract.ts`.
 */

export interface TopicRecord {
  /** The message id (or the dead letter's). ASCII, at most 255 bytes. */
  readonly key: string;
  readonly value: Buffer;
  /** Receive time, milliseconds since the epoch. */
  readonly timestamp: number;
  /** One header named `origin`: receiver and peer, joined by a space. */
  readonly origin: string;
}

export interface ConsumedRecord extends TopicRecord {
  readonly offset: number;
  /**
   * The parts of a key that is an id as receivers mint them (`delivery/ids.ts`), where they were read together with it.
   */
  readonly idPrefix?: string | undefined;
  readonly idSequence?: number | undefined;
}

export interface ConsumedBatch {
  readonly topic: string;
  readonly partition: number;
  /** In offset order. Offsets may have holes (Kafka's control records), never repeats. Not empty. */
  readonly records: readonly ConsumedRecord[];
  /** The offset after the last record of this batch. */
  readonly nextOffset: number;
  /** Log end as the fetch saw it; `logEnd - nextOffset` is the lag. */
  readonly logEnd: number;
  /**
   * The consumer-group generation this batch was fetched under. Embedded: a number that grows with each start of the
   * program on this data. A batch of an older generation than the newest assignment must not be written.
   */
  readonly groupGeneration: number;
  /** True when this consumer has lost the partition since the fetch. */
  readonly revoked: () => boolean;
  /**
   * Proof of ownership: resolves after a heartbeat that was sent after the fetch succeeded (protocol rule 3); rejects
   * when the partition is lost.
   */
  readonly fence: () => Promise<void>;
}

/** What a consumer learns when a partition is assigned to it, before the first batch. */
export interface Assignment {
  readonly topic: string;
  readonly partition: number;
  readonly groupGeneration: number;
  /** Where reading starts: the committed offset, else the earliest. */
  readonly position: number;
  /** The committed offset and its metadata, when there is one. */
  readonly committed: { readonly offset: number; readonly metadata: string } | undefined;
  readonly earliest: number;
  /** Log end E at the assignment (protocol rule 4). */
  readonly logEnd: number;
  /** Proof of ownership, as of a batch. */
  readonly fence: () => Promise<void>;
}

export interface ConsumeHandler {
  /** Called once for each newly assigned partition before its first batch; reading starts when it resolves. */
  assigned(assignment: Assignment): Promise<void>;
  /**
   * Called with the next batch of one partition; batches of one partition come one after the other, of several
   * partitions concurrently. It resolves with what may be committed: an offset (at most `nextOffset`) and metadata of
   * at most 4,000 bytes; the adapter commits it before the partition's next batch. It rejects to have the batch
   * delivered again, after a pause of the adapter (retryable errors), or to stop the consumer (permanent ones).
   */
  batch(batch: ConsumedBatch): Promise<{ readonly commit: number; readonly metadata: string }>;
  /** The partition is gone (rebalance, stop). No batch of it is delivered until it is assigned again. */
  revoked(topic: string, partition: number): void;
}

export interface ConsumeOptions {
  readonly group: string;
  readonly topics: readonly string[];
  /** At most this many bytes of records in one batch (one record always fits). */
  readonly maxBatchBytes: number;
  /** At most this many records in one batch. */
  readonly maxBatchRecords: number;
  /** Partitions whose batches may be handled at the same time. */
  readonly concurrency: number;
  /** A batch smaller than the bounds waits this long, in milliseconds, to fill up. Default 0. */
  readonly waitForMoreMs?: number | undefined;
}

export interface Consumer {
  /**
   * Stops fetching, waits for the handlers under way until the deadline (milliseconds), commits, leaves the group. Safe
   * twice.
   */
  stop(deadlineMs: number): Promise<void>;
  /** Partitions that this consumer has now, as `topic/partition`. */
  assigned(): readonly string[];
  /** Rejects when the consumer cannot go on; never resolves before `stop`. */
  readonly finished: Promise<void>;
  /**
   * Commits what became certain later than its batch ended, or sooner (at most what has been delivered); rejects when
   * the partition is not owned. The caller sees to it that commits do not go backwards.
   */
  commit(topic: string, partition: number, offset: number, metadata: string): Promise<void>;
}

export interface TopicSpec {
  readonly name: string;
  readonly partitions: number;
  readonly retentionBytes: number | undefined;
  readonly retentionMs: number | undefined;
  /** Largest record that must fit. */
  readonly maxMessageBytes: number;
}

export interface PartitionState {
  readonly partition: number;
  readonly earliest: number;
  readonly logEnd: number;
  readonly bytes: number | undefined;
}

export interface TopicLogCapabilities {
  readonly name: string;
  /** Several processes may share one log. */
  readonly shared: boolean;
  /** Retention deletes only what every group has consumed. */
  readonly keepsUnread: boolean;
  /** It deletes in steps of so many bytes; undefined: as it likes. */
  readonly deletionBytes: number | undefined;
  /** Bytes that appends leave free on the disk of the data folder; undefined: its topics are elsewhere. */
  readonly reserveBytes: number | undefined;
  /** `partitions` tells bytes, and costs little: it may be asked often. */
  readonly measuresBytes: boolean;
}

export interface TopicLog {
  capabilities(): TopicLogCapabilities;
  start(): Promise<void>;
  /** Safe twice and without start. Appends under way are finished until the deadline. */
  stop(deadlineMs: number): Promise<void>;
  /**
   * Creates what is missing; an existing topic that does not fit (fewer partitions, smaller messages, shorter
   * retention) is returned as a warning sentence, never changed downwards.
   */
  ensureTopics(specs: readonly TopicSpec[]): Promise<readonly string[]>;
  /**
   * Appends records to one partition, in order, all or in a prefix that a retry completes: it keeps trying while the
   * engine is away and resolves when every record is durable (Kafka acks=all, embedded fdatasync). After a lost
   * acknowledgement records may stand twice in the topic; consumers skip the resend by key (protocol rule 5). At most
   * one append per partition is under way; a caller that starts a second one waits for its turn, in order. Rejects with
   * a permanent error when a record can never fit, or after `stop`.
   */
  append(topic: string, partition: number, records: readonly TopicRecord[]): Promise<void>;
  /**
   * Refuses (false) while the embedded log's disk is full or the broker has been away past its patience. For
   * /health/ready and `full()`.
   */
  writable(): { readonly ok: boolean; readonly reason: string };
  consume(options: ConsumeOptions, handler: ConsumeHandler): Promise<Consumer>;
  /** Reads without a group, from an offset to the log end as it is at the call: for verification and `tap`. */
  read(
    topic: string,
    partition: number,
    fromOffset: number,
    onRecords: (records: readonly ConsumedRecord[]) => void | Promise<void>,
  ): Promise<void>;
  partitions(topic: string): Promise<readonly PartitionState[]>;
  /** Forgets records below an offset that every group has committed; the embedded log in whole segments. */
  trim(topic: string, partition: number, before: number): Promise<void>;
  /** Offsets committed by a group, by partition. */
  committed(group: string, topic: string): Promise<ReadonlyMap<number, number>>;
  /** Changes when the topic was deleted and made again; Kafka: 0 when it cannot be known. */
  generation(topic: string): Promise<number>;
}
