import type { Rotation } from './contract.js';

/** The first Monday after the epoch: weeks begin on Mondays; days, hours and minutes on the UTC clock's. */
const firstMonday = 4 * 86_400_000;
const week = 7 * 86_400_000;

/** Which period of the grid a time lies in. */
function periodOf(time: number, period: number): number {
  return Math.floor((period % week === 0 ? time - firstMonday : time) / period);
}

/** By the index's creation: periods in which nothing ran collapse to one, and an empty index stays. */
export const rotationByTime: Rotation<{ readonly period_ms: number }> = {
  type: 'time',
  due: (settings, facts) =>
    facts.documents > 0 && periodOf(facts.now, settings.period_ms) > periodOf(facts.createdAt, settings.period_ms),
};
