/** Where the message of a dead letter goes in one epoch, and as which documents. Reads, and changes nothing. */
import type { RuleSet } from '../../rules/contract.js';
import type { DeliveryContext } from '../settle/context.js';
import type { Epoch } from '../delivery/records.js';
import type { IndexBatch } from '../index-batch.js';
import { epochOf, prepareIndices } from '../route/by-epoch.js';
import { MessageRouter } from '../route/message-router.js';
import { emptyRouted, indexOf, type RouteContext, type Routed } from '../route/routed.js';
import { deadLetterErrors } from './errors.js';
import { messageOf, unusable, type DeadLetterMessage, type MessageContext, type Unusable } from './message.js';
import { stateOf, textOf, type DeadLetter } from './state.js';

export interface PlanContext {
  readonly deliver: DeliveryContext;
  readonly messages: MessageContext;
  /** The epoch that a dead letter without a target gets. */
  readonly newest: () => Epoch;
}

export interface Plan {
  readonly epoch: number;
  readonly message: DeadLetterMessage;
  /** One document for each index set; none: a rule dropped the message. */
  readonly targets: readonly IndexBatch[];
  readonly forwards: Routed['forwards'];
}

const none: ReadonlySet<number> = new Set();

/** The plan for the dead letter's own target, or for the newest epoch when it has none. */
export async function planOf(deadLetter: DeadLetter, context: PlanContext): Promise<Plan | Unusable> {
  const message = await messageOf(deadLetter, context.messages);
  if ('code' in message) return message;
  const { deliver } = context;
  const state = stateOf(deadLetter.document);
  const epoch = state.state === 'targeted' ? await epochOf(deliver.ledger, state.epoch) : context.newest();
  const indexSet = textOf(deadLetter.document, 'index_set');
  if (indexSet !== '' && epoch.indices[indexSet] === undefined)
    return unusable(deadLetterErrors.create('DEAD_LETTER_SET_MISSING', { got: indexSet }));
  const rules = await deliver.ruleSets.byVersion(epoch.ruleSetVersion);
  await prepareIndices(deliver, indexSet === '' ? Object.values(epoch.indices) : [indexOf(epoch, indexSet)]);
  const routed = emptyRouted();
  const [applied, route] =
    indexSet === '' ? [rules, deliver.route] : [onlyTo(rules, indexSet), withoutOutputs(deliver.route)];
  new MessageRouter(routed, epoch, applied, route).route([message.record], 0, 1, none);
  const refused = routed.unusable[0];
  if (refused !== undefined) return unusable(refused.error);
  return { epoch: epoch.number, message, targets: [...routed.byIndex.values()], forwards: routed.forwards };
}

/** A refused document is stored already wherever else it belongs. */
function onlyTo(rules: RuleSet, indexSet: string): RuleSet {
  return {
    ...rules,
    apply: (document, ruleContext) => {
      const routing = rules.apply(document, ruleContext);
      return routing.dropped ? routing : { ...routing, indexSets: [indexSet] };
    },
  };
}

/** They have had the message when it was delivered first. */
function withoutOutputs(route: RouteContext): RouteContext {
  return { ...route, forwarder: undefined };
}
