import { defineMetrics } from '../core/metrics.js';

export const rulesMetrics = defineMetrics({
  matched: { type: 'counter', name: 'sluice_rules_matched_total', help: 'Messages whose conditions held, by rule.', labels: ['rule'] },
  failed: { type: 'counter', name: 'sluice_rules_failed_total', help: 'Messages for which a rule failed and was left out, by rule.', labels: ['rule'] },
  loads: { type: 'counter', name: 'sluice_rules_loads_total', help: 'Times the rule files were read after a change: loaded, or refused because of mistakes.', labels: ['result'] },
});
