/** Decodes messages, runs the rules of one epoch over them, and groups the documents by concrete index. */
import type { RuleSet, Routing } from '../../rules/contract.js';
import type { ConsumedRecord } from '../../topics/contract.js';
import type { Epoch } from '../delivery/records.js';
import type { ForwardCollector } from '../forwarding/forward.js';
import type { IndexBatch } from '../index-batch.js';
import { DecodeContexts } from '../origin.js';
import { addDocument, batchOf, type RouteContext, type Routed, type Router } from './routed.js';

/** What messages of the same routing share, so that it is looked up once. */
interface Destination {
  readonly routing: Routing;
  readonly batches: readonly IndexBatch[];
  /** Ids of outputs. */
  readonly outputs: readonly string[];
  messages: number;
}

export class MessageRouter implements Router {
  readonly #routed: Routed;
  readonly #epoch: Epoch;
  readonly #rules: RuleSet;
  readonly #context: RouteContext;
  readonly #decodeContexts: DecodeContexts;
  readonly #forwards: ForwardCollector | undefined;
  readonly #ruleContext: {
    messageId: string;
    receiver: string;
    readonly changes: ForwardCollector['changes'] | undefined;
  };
  readonly #destinations = new Map<Routing, Destination>();
  #last: Destination | undefined;

  constructor(routed: Routed, epoch: Epoch, rules: RuleSet, context: RouteContext) {
    this.#routed = routed;
    this.#epoch = epoch;
    this.#rules = rules;
    this.#context = context;
    this.#decodeContexts = new DecodeContexts(context.timestampOf);
    this.#forwards = context.forwarder?.collectorOf(rules, routed.forwards);
    this.#ruleContext = { messageId: '', receiver: '', changes: this.#forwards?.changes };
  }

  route(records: readonly ConsumedRecord[], start: number, end: number, skip: ReadonlySet<number>): void {
    for (let index = start; index < end; index += 1) {
      const record = records[index];
      if (record !== undefined && !skip.has(index)) this.#routeOne(record, index);
    }
    this.#countStreams();
  }

  #routeOne(record: ConsumedRecord, position: number): void {
    const { decoder, coerce } = this.#context;
    const parsed = decoder.parse(record.value);
    if ('error' in parsed) {
      this.#routed.unusable.push({ record, error: parsed.error });
      return;
    }
    const decodeContext = this.#decodeContexts.of(record);
    const document = decoder.toDocument(parsed, decodeContext);
    this.#ruleContext.messageId = record.key;
    this.#ruleContext.receiver = decodeContext.receiver;
    this.#forwards?.begin();
    const routing = this.#rules.apply(document, this.#ruleContext);
    if (routing.dropped) {
      this.#routed.dropped += 1;
      return;
    }
    document['rule_set_version'] = this.#rules.version;
    document['streams'] = routing.streams;
    const destination = this.#last?.routing === routing ? this.#last : this.#destinationOf(routing, record);
    destination.messages += 1;
    if (destination.outputs.length > 0) this.#forwards?.add(destination.outputs, record, document, parsed);
    for (const batch of destination.batches) addDocument(batch, record, position, coerce(batch.index, document));
  }

  #destinationOf(routing: Routing, record: ConsumedRecord): Destination {
    let destination = this.#destinations.get(routing);
    if (destination === undefined) {
      destination = {
        routing,
        batches: routing.indexSets.map((indexSet) => batchOf(this.#routed, this.#epoch, indexSet, record)),
        outputs: this.#forwards?.outputsOf(routing) ?? [],
        messages: 0,
      };
      this.#destinations.set(routing, destination);
    }
    this.#last = destination;
    return destination;
  }

  #countStreams(): void {
    const { streams } = this.#routed;
    for (const destination of this.#destinations.values()) {
      for (const stream of destination.routing.streams)
        streams.set(stream, (streams.get(stream) ?? 0) + destination.messages);
      destination.messages = 0;
    }
  }
}
