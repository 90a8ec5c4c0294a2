/** Hands the messages of a request to the pipeline, and says what became of each. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { at } from '../../core/at.js';
import { errorText, isSluiceError, type SluiceError } from '../../core/errors.js';
import type { Refusal } from '../../schemas/messages.js';
import type { Diagnoser } from '../diagnosis.js';
import type { MessageChecker } from '../contract.js';
import type { MessageCounters } from '../metrics.js';
import type { ReceiverContext } from './context.js';
import { splitDocuments } from './documents.js';
import { listenErrors } from './errors.js';
import { errorAnswer, type Answer, type RefusedMessage } from './http-answer.js';
import { maxMessagesInBody, type Body } from './http-body.js';
import { receiverEvents } from '../events.js';

/** An answer names this many refused messages; `refused_count` says how many there were. */
const maxRefusedListed = 1000;
const rawHeadBytes = 64 * 1024;
/** A request may hold a hundred thousand bad messages: after this many, and this long, others get their turn. */
const messagesInTurn = 250;
const turnMs = 4;

export interface MessageTaker {
  /** Resolves when what is good is durable, with the answer for the sender. */
  take(body: Body, peer: string): Promise<Answer>;
}

interface Bad {
  readonly index: number;
  readonly error: SluiceError;
  readonly raw: Buffer;
}

export function createMessageTaker(
  receiver: string,
  context: ReceiverContext,
  counters: MessageCounters,
  diagnoser: Diagnoser,
): MessageTaker {
  const now = context.now ?? Date.now;
  let lanes = 0;
  const push = async (good: readonly Buffer[], bad: readonly Bad[], peer: string) => {
    lanes += 1;
    const receivedAt = now();
    const bytes = good.reduce((sum, value) => sum + value.length, 0);
    const refusals = bad.map(
      ({ error, raw }): Refusal => ({
        receiver,
        peer,
        receivedAt,
        code: error.code,
        reason: error.message,
        raw: Buffer.from(raw.subarray(0, rawHeadBytes)),
        rawLength: raw.length,
      }),
    );
    await Promise.all([
      context.sink.push({ receiver, lane: lanes, receivedAt, values: good, peers: peer, bytes, answered: true }),
      refuseInTurns(refusals),
    ]);
  };
  const refuseInTurns = async (refusals: readonly Refusal[]): Promise<void> => {
    const under: Promise<void>[] = [];
    for (let at = 0; at < refusals.length; at += messagesInTurn) {
      if (at > 0) await nextTurn();
      under.push(context.sink.refuse(refusals.slice(at, at + messagesInTurn)));
    }
    await Promise.all(under);
  };
  return {
    take: async (body, peer) => {
      const { good, bad } = await checkMessages(body.messages, context.checker);
      counters.received(good.length + bad.length);
      counters.decoded(good.length);
      counters.refused(bad.length);
      for (const { raw } of bad.slice(0, 1)) diagnoser.examine(raw, peer);
      if (good.length === 0) return refusedAnswer(bad, body.batch);
      try {
        await push(good, bad, peer);
      } catch (error) {
        receiverEvents.pushFailed(
          context.log,
          { receiver, error: errorText(error) },
          'The pipeline took no more; the sender was told so.',
        );
        return errorAnswer(listenErrors.create('RECEIVER_STOPPING'));
      }
      return bad.length === 0 ? { status: 202 } : { status: 202, body: { accepted: good.length, ...refusedList(bad) } };
    },
  };
}

async function checkMessages(messages: readonly Buffer[], checker: MessageChecker): Promise<CheckedMessages> {
  const checked = new CheckedMessages(checker);
  let began = performance.now();
  for (let index = 0; index < messages.length; index += 1) {
    if (index % messagesInTurn === messagesInTurn - 1 && performance.now() - began > turnMs) {
      await nextTurn();
      began = performance.now();
    }
    checked.add(at(messages, index), index);
  }
  return checked;
}

/** The messages of one request: those to be taken, and those that are refused. */
class CheckedMessages {
  readonly good: Buffer[] = [];
  readonly bad: Bad[] = [];
  readonly #checker: MessageChecker;

  constructor(checker: MessageChecker) {
    this.#checker = checker;
  }

  /** `index`: its position in the body. */
  add(message: Buffer, index: number): void {
    const parsed = this.#checker.parse(message);
    if ('error' in parsed) this.bad.push({ index, error: parsed.error, raw: message });
    else if (parsed.extraDocuments) this.#addSeveral(message, index);
    else this.good.push(message);
  }

  /** A line that holds several documents: each is a message. */
  #addSeveral(line: Buffer, index: number): void {
    const split = splitDocuments(line, maxMessagesInBody);
    if ('problem' in split) {
      const allowed = `${maxMessagesInBody} in one request`;
      this.bad.push({ index, error: listenErrors.create('RECEIVER_DOCUMENTS_TOO_MANY', { allowed }), raw: line });
      return;
    }
    for (const document of split.documents) {
      const parsed = this.#checker.parse(document);
      if ('error' in parsed) this.bad.push({ index, error: parsed.error, raw: document });
      else this.good.push(document);
    }
  }
}

function refusedAnswer(bad: readonly Bad[], batch: boolean): Answer {
  const first = bad[0]?.error;
  const error = batch || !isSluiceError(first) ? listenErrors.create('RECEIVER_MESSAGES_REFUSED') : first;
  const answer = errorAnswer(error);
  return { ...answer, status: 400, body: { ...(answer.body as object), ...refusedList(bad) } };
}

function refusedList(bad: readonly Bad[]): {
  readonly refused: readonly RefusedMessage[];
  readonly refused_count: number;
} {
  return {
    refused: bad
      .slice(0, maxRefusedListed)
      .map(({ index, error }) => ({ index, code: error.code, reason: error.message })),
    refused_count: bad.length,
  };
}
