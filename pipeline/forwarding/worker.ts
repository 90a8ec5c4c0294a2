/**
 * One output: reads its topic by a group of its own, and hands what it reads to a sender. Nothing else in the program
 * waits for it.
 */
import { at } from '../../core/at.js';
import type { BuiltMetrics } from '../../core/metrics.js';
import { errorText } from '../../core/errors.js';
import { createRateLimit, type Log } from '../../core/log.js';
import { noteTraffic } from '../../core/process/young-generation.js';
import type { OutputRecord, OutputSender, OutputSending, OutputState, Parcel } from '../../sinks/outputs/contract.js';
import type { OutputSettings } from '../../schemas/outputs/output.js';
import type { Assignment, ConsumedBatch, ConsumeHandler, Consumer, TopicLog } from '../../topics/contract.js';
import type { Taps } from '../monitoring/taps.js';
import { backlogOf } from './limits.js';
import type { outputMetrics } from './metrics.js';
import { createRepeats, type Repeats } from './repeats.js';
import { ageInSeconds, createFirstWaiting, waitingIn, type Waiting } from './waiting.js';
import type { OutputStatus } from './contract.js';
import { pipelineEvents } from '../events.js';

interface OutputWorkerOptions extends OutputSending {
  readonly settings: OutputSettings;
  readonly topics: TopicLog;
  readonly topic: string;
  readonly group: string;
  /** What may wait when the policy is drop_oldest. */
  readonly maxWaitingBytes: number;
  readonly maxAgeMs: number;
  /** Watchers of what is sent. */
  readonly taps?: Taps | undefined;
  readonly metrics: BuiltMetrics<typeof outputMetrics>;
  readonly log: Log;
}

const batchBytes = 2 * 2 ** 20;
const batchRecords = 5_000;
/** Confirmations of a silent topic are committed this often. */
const commitEveryMs = 500;
/** How often the policy drop_oldest is looked after while messages wait. */
const limitEveryMs = 1_000;

export class OutputWorker {
  readonly #options: OutputWorkerOptions;
  readonly #labels: { readonly output: string };
  readonly #mayLog = createRateLimit(6);
  #consumer: Consumer | undefined;
  #sender: OutputSender | undefined;
  #repeats: Repeats = createRepeats();
  #assigned = false;
  /** The offset that the next record is expected at. */
  #expected = 0;
  /** Everything below is confirmed. */
  #confirmed = 0;
  #committed = 0;
  #oldest: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #stopping = false;
  #problem: string | undefined;
  readonly #counts = { sent: 0, failed: 0, dropped: 0 };
  /** Policy drop_oldest: what stands below is not sent any more. */
  #dropBelow = 0;
  /** Of a message with its key and origin, as far as messages were read. */
  #bytesEach: number | undefined;
  /**
   * Of messages handed to the sender and not confirmed: offset behind them, receive times of the first and of the
   * newest.
   */
  #ages: { readonly nextOffset: number; readonly oldest: number; readonly newest: number }[] = [];
  readonly #firstWaiting: ReturnType<typeof createFirstWaiting>;
  #limiting: NodeJS.Timeout | undefined;

  constructor(options: OutputWorkerOptions) {
    this.#options = options;
    this.#labels = { output: options.settings.id };
    this.#firstWaiting = createFirstWaiting(options.topics, options.topic);
  }

  async start(): Promise<void> {
    const { topics, topic, group, metrics } = this.#options;
    for (const counter of [metrics.sent, metrics.failed]) counter.inc(this.#labels, 0);
    const handler: ConsumeHandler = {
      assigned: (assignment) => this.#take(assignment),
      batch: (batch) => this.#handle(batch),
      revoked: () => this.#giveUp(),
    };
    this.#consumer = await topics.consume(
      { group, topics: [topic], maxBatchBytes: batchBytes, maxBatchRecords: batchRecords, concurrency: 1 },
      handler,
    );
    this.#consumer.finished.catch((error: unknown) => {
      this.#problem = errorText(error);
      pipelineEvents.outputTopicUnread(this.#options.log, { output: this.#options.settings.id, error: this.#problem });
    });
    this.#timer = setInterval(() => void this.#commitConfirmed(), commitEveryMs).unref();
    if (this.#options.settings.on_full === 'drop_oldest')
      this.#limiting = setInterval(() => void this.#limit().catch(() => undefined), limitEveryMs).unref();
  }

  /** Safe twice. */
  async stop(deadlineMs: number): Promise<void> {
    if (this.#stopping) return;
    this.#stopping = true;
    clearInterval(this.#timer);
    clearInterval(this.#limiting);
    const end = performance.now() + deadlineMs;
    await this.#sender?.stop(deadlineMs / 2);
    await this.#commitConfirmed();
    await this.#consumer?.stop(Math.max(500, end - performance.now()));
  }

  async status(): Promise<OutputStatus> {
    const {
      settings: { id, title, type, protocol, enabled },
      link,
    } = this.#options;
    const { lag, from } = await this.#waiting();
    const oldest = await this.#oldestWaiting(lag, from);
    const idle: OutputState = {
      state: 'idle',
      address: link.address,
      lastError: undefined,
      lastErrorAt: undefined,
      unconfirmedMessages: 0,
      unconfirmedBytes: 0,
    };
    const sending = this.#sender?.state() ?? idle;
    return {
      id,
      title,
      type,
      protocol,
      enabled,
      lag,
      oldest: oldest === undefined ? undefined : new Date(oldest).toISOString(),
      ...this.#counts,
      ...sending,
      ...(this.#problem === undefined ? {} : { state: 'stopped' as const, lastError: this.#problem }),
    };
  }

  async collect(): Promise<void> {
    const { metrics } = this.#options;
    const { lag, from } = await this.#waiting();
    // Of several processes one has the topic; their gauges are added up.
    const oldest = this.#assigned ? await this.#oldestWaiting(lag, from) : undefined;
    metrics.connected.set(
      this.#labels,
      this.#problem === undefined && this.#sender?.state().state === 'connected' ? 1 : 0,
    );
    metrics.waiting.set(this.#labels, this.#assigned ? lag : 0);
    metrics.oldest.set(this.#labels, ageInSeconds(oldest));
  }

  async #waiting(): Promise<Waiting> {
    const { topics, topic, group } = this.#options;
    return waitingIn(topics, topic, group, this.#assigned ? this.#confirmed : 0);
  }

  /** What was read is known here; the topic is asked where nothing was, or another process has it. */
  async #oldestWaiting(lag: number, from: number): Promise<number | undefined> {
    if (lag === 0) return undefined;
    const known = this.#assigned ? (this.#ages[0]?.oldest ?? this.#oldest) : undefined;
    return known ?? this.#firstWaiting(from);
  }

  async #take({ position, committed, earliest }: Assignment): Promise<void> {
    const { log, metrics, settings, link, createSender } = this.#options;
    this.#count('retention', committed === undefined ? 0 : earliest - committed.offset);
    this.#expected = position;
    this.#confirmed = position;
    // Committed even where nothing was sent yet: without a committed offset nobody could tell what the topic's
    // retention removes.
    this.#committed = committed === undefined ? -1 : position;
    this.#assigned = true;
    this.#ages = [];
    this.#repeats = createRepeats();
    const sender: OutputSender = createSender({
      link,
      log,
      confirmAfterMs: settings.confirm_after_ms,
      unconfirmedBytes: settings.unconfirmed_bytes,
      idleTimeoutMs: settings.idle_timeout_ms,
      retryMostMs: settings.retry_most_ms,
      onConfirmed: (nextOffset, messages, refused) => {
        if (sender !== this.#sender) return;
        this.#confirmed = nextOffset;
        metrics.sent.inc(this.#labels, messages);
        metrics.failed.inc(this.#labels, refused);
        this.#counts.sent += messages;
        this.#counts.failed += refused;
        while (this.#ages[0] !== undefined && this.#ages[0].nextOffset <= nextOffset) this.#ages.shift();
      },
      onFailed: () => metrics.attemptsFailed.inc(this.#labels),
      onStopped: (error) => pipelineEvents.outputStopped(log, { output: settings.id, error: errorText(error) }),
    });
    this.#sender = sender;
    sender.start();
  }

  #giveUp(): void {
    this.#assigned = false;
    const sender = this.#sender;
    if (this.#stopping) return;
    this.#sender = undefined;
    void sender?.stop(0);
  }

  async #handle(batch: ConsumedBatch): Promise<{ commit: number; metadata: string }> {
    noteTraffic(batch.records.length);
    try {
      const first = batch.records[0];
      if (first !== undefined) this.#count('retention', first.offset - this.#expected);
      this.#expected = batch.nextOffset;
      await this.#sendAll(batch);
      this.#committed = this.#confirmed;
      return { commit: this.#confirmed, metadata: '' };
    } catch (error) {
      // The batch comes again, and none of it counts as seen.
      this.#repeats = createRepeats();
      this.#expected = batch.records[0]?.offset ?? this.#expected;
      throw error;
    }
  }

  async #sendAll(batch: ConsumedBatch): Promise<void> {
    const { metrics, encoder } = this.#options;
    const records: readonly OutputRecord[] = batch.records.filter(({ key }) => !this.#repeats.seen(key));
    metrics.repeated.inc(this.#labels, batch.records.length - records.length);
    this.#bytesEach = meanBytes(batch, this.#bytesEach);
    this.#assertNoLoop(records);
    let covered = -1;
    for (let index = 0; ; ) {
      const from = this.#skip(records, index);
      // What was passed over can be committed without waiting for what follows.
      if (from > index) await this.#send(nothingUpTo(records[from]?.offset ?? batch.nextOffset));
      if (from >= records.length) break;
      this.#oldest = records[from]?.timestamp;
      const { parcel, to } = encoder.encode(records, from);
      covered = to === records.length ? batch.nextOffset : parcel.nextOffset;
      this.#ages.push({
        nextOffset: covered,
        oldest: at(records, from).timestamp,
        newest: at(records, to - 1).timestamp,
      });
      await this.#send({ ...parcel, nextOffset: covered });
      const sentFrom = from;
      this.#options.taps?.sent(this.#labels.output, () =>
        records.slice(sentFrom, to).map(({ key, value }) => ({ text: value.toString('utf8'), id: key })),
      );
      index = to;
    }
    if (covered !== batch.nextOffset) await this.#send(nothingUpTo(batch.nextOffset));
    this.#oldest = undefined;
  }

  #assertNoLoop(records: readonly OutputRecord[]): void {
    const { loopGuard, log, settings } = this.#options;
    try {
      loopGuard.check(records);
    } catch (error) {
      pipelineEvents.outputLoopFound(log, { output: settings.id, error: errorText(error) });
      throw error;
    }
  }

  /** Policy drop_oldest: the first record that may still be sent. */
  #skip(records: readonly OutputRecord[], from: number): number {
    const { settings, maxAgeMs } = this.#options;
    if (settings.on_full !== 'drop_oldest') return from;
    let to = from;
    const youngest = Date.now() - maxAgeMs;
    const counts = { oldest: 0, age: 0 };
    for (let record = records[to]; record !== undefined; record = records[to]) {
      if (record.offset < this.#dropBelow) counts.oldest += 1;
      else if (record.timestamp < youngest) counts.age += 1;
      else break;
      to += 1;
    }
    this.#countDropped('oldest', counts.oldest);
    this.#countDropped('age', counts.age);
    return to;
  }

  /** What waits beyond the bounds is given up, also what the sender has taken and could not write. */
  async #limit(): Promise<void> {
    const { topics, topic, group, maxWaitingBytes, maxAgeMs } = this.#options;
    if (!this.#assigned) return;
    const { logEnd, bytesEach } = await backlogOf(topics, topic, group, this.#bytesEach);
    this.#dropBelow = Math.max(this.#dropBelow, logEnd - Math.floor(maxWaitingBytes / bytesEach));
    const youngest = Date.now() - maxAgeMs;
    const old = this.#ages.findLast(({ newest }) => newest < youngest)?.nextOffset ?? 0;
    this.#countDropped('oldest', this.#sender?.drop(this.#dropBelow) ?? 0);
    this.#countDropped('age', this.#sender?.drop(old) ?? 0);
  }

  #countDropped(reason: 'oldest' | 'age', messages: number): void {
    if (messages === 0) return;
    this.#options.metrics.dropped.inc({ ...this.#labels, reason }, messages);
    this.#counts.dropped += messages;
    const { allowed, suppressed } = this.#mayLog(reason);
    if (allowed)
      pipelineEvents.waitingMessagesDropped(this.#options.log, {
        output: this.#options.settings.id,
        reason,
        messages,
        suppressed,
      });
  }

  async #send(parcel: Parcel): Promise<void> {
    const sender = this.#sender;
    if (sender === undefined) throw new Error('the output does not own its topic');
    const taken = await sender.send(parcel);
    if (!taken) this.#countDropped('oldest', parcel.messages);
  }

  /** A batch may wait for its destination for long, and after the last one comes none whose commit would carry it. */
  async #commitConfirmed(): Promise<void> {
    const { topic } = this.#options;
    const confirmed = this.#confirmed;
    if (!this.#assigned || confirmed <= this.#committed || this.#consumer === undefined) return;
    this.#committed = confirmed;
    await this.#consumer.commit(topic, 0, confirmed, '').catch(() => undefined);
  }

  #count(reason: string, messages: number): void {
    if (messages <= 0) return;
    this.#counts.dropped += messages;
    this.#options.metrics.dropped.inc({ ...this.#labels, reason }, messages);
    pipelineEvents.waitingMessagesExpired(this.#options.log, { output: this.#options.settings.id, reason, messages });
  }
}

/** Weight of the newest batch in what a message is taken to need. */
const newestShare = 0.3;

/** Kafka does not tell how large its topics are; what was read of this one does. */
function meanBytes({ records }: ConsumedBatch, before: number | undefined): number | undefined {
  if (records.length === 0) return before;
  const mean =
    records.reduce((sum, { value, key, origin }) => sum + value.length + key.length + origin.length, 0) /
    records.length;
  return before === undefined ? mean : before + (mean - before) * newestShare;
}

const nothingUpTo = (nextOffset: number): Parcel => ({ parts: [], bytes: 0, messages: 0, nextOffset });
