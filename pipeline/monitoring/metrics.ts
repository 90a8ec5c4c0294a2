/** Metrics of what people look at while the program runs. */
import { defineMetrics } from '../../core/metrics.js';

export const viewMetrics = defineMetrics({
  sendersKnown: { type: 'gauge', name: 'sluice_senders_known', help: 'Senders in the table that `sluice top` shows.' },
  sendersEvicted: {
    type: 'counter',
    name: 'sluice_senders_evicted_total',
    help: 'Senders that left the table because it was full; what they sent counts for their receiver all the same.',
  },
  tapsOpen: { type: 'gauge', name: 'sluice_taps_open', help: 'Watchers of what passes (`sluice tap`).' },
  tapsSkipped: {
    type: 'counter',
    name: 'sluice_taps_skipped_total',
    help: 'Messages that passed and were not shown to a watcher, because they came faster than it reads.',
  },
});
