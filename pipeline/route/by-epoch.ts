/** The epoch of an offset alone decides its routing (delivery protocol, rule 1): the router of one epoch. */
import type { Epoch } from '../delivery/records.js';
import { isBlocking } from '../blocking.js';
import { pipelineErrors } from '../errors.js';
import type { Ledger } from '../ledger/ledger.js';
import type { RuleSets } from '../ledger/rule-sets.js';
import { createDeadLetterRouter } from './dead-letter-router.js';
import { MessageRouter } from './message-router.js';
import type { RouteContext, Routed, Router } from './routed.js';

export interface EpochContext {
  readonly ledger: Ledger;
  readonly ruleSets: RuleSets;
  readonly route: RouteContext;
  /** Reads the field types of indices that are new to this process, before documents are made to fit them. */
  readonly prepareIndex: (index: string) => Promise<void>;
  readonly deadLettersTopic: string;
}

/** The router for records of this topic by this epoch; what it routes is added to `routed`. */
export async function routerOf(
  context: EpochContext,
  topic: string,
  epochNumber: number,
  routed: Routed,
): Promise<Router> {
  const epoch = await epochOf(context.ledger, epochNumber);
  const rules = await context.ruleSets.byVersion(epoch.ruleSetVersion);
  await prepareIndices(context, Object.values(epoch.indices));
  return topic === context.deadLettersTopic
    ? createDeadLetterRouter({ routed, epoch, ruleSetVersion: rules.version, coerce: context.route.coerce })
    : new MessageRouter(routed, epoch, rules, context.route);
}

export async function epochOf(ledger: Ledger, number: number): Promise<Epoch> {
  const epoch = await ledger.epoch(number);
  if (epoch === undefined) throw pipelineErrors.create('PIPELINE_EPOCH_MISSING', { place: `epoch ${number}` });
  return epoch;
}

/** An index that takes no writes is met again by the write, which knows what to do. */
export async function prepareIndices(
  { prepareIndex }: Pick<EpochContext, 'prepareIndex'>,
  indices: readonly string[],
): Promise<void> {
  for (const index of indices) {
    try {
      await prepareIndex(index);
    } catch (error) {
      if (!isBlocking(error)) throw error;
    }
  }
}
