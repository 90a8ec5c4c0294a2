import { defineMetrics } from '../../core/metrics.js';

export const deadLetterMetrics = defineMetrics({
  kept: {
    type: 'counter',
    name: 'sluice_dead_letters_total',
    help: 'Dead letters on their way to their index set, by code; redeliveries included.',
    labels: ['code'],
  },
  known: {
    type: 'counter',
    name: 'sluice_dead_letters_known_total',
    help: 'Dead letters left out because the same one was there already.',
  },
  replays: {
    type: 'counter',
    name: 'sluice_dead_letter_replays_total',
    help: 'Replays of dead letters, by outcome: replayed, failed (again), left (no answer; the replay can be repeated), elsewhere, skipped, gone.',
    labels: ['outcome'],
  },
  dropped: {
    type: 'counter',
    name: 'sluice_dead_letters_dropped_total',
    help: 'Dead letters that an operator has given up.',
  },
});
