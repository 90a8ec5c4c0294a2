/** Every row of the fault table, one line each. */
import type { Row } from '../row.js';
import { bulkAcknowledgementsCut } from './bulk-acknowledgements-cut.js';
import { kafkaAcknowledgementsCut } from './kafka-acknowledgements-cut.js';
import { kafkaBrokerGone } from './kafka-broker-gone.js';
import { kafkaBrokerStaysAway } from './kafka-broker-stays-away.js';
import { kafkaKill } from './kafka-kill.js';
import { kafkaPause } from './kafka-pause.js';
import { killAllInOne } from './kill-all-in-one.js';
import { killProcessor } from './kill-processor.js';
import { killReceiver } from './kill-receiver.js';
import { newerRules } from './newer-rules.js';
import { openSearch429 } from './opensearch-429.js';
import { openSearchKill } from './opensearch-kill.js';
import { openSearchPause } from './opensearch-pause.js';
import { rotation } from './rotation.js';
import { ruleReload } from './rule-reload.js';

export const rows: readonly Row[] = [
  killAllInOne,
  killProcessor,
  killReceiver,
  kafkaKill,
  kafkaPause,
  kafkaAcknowledgementsCut,
  kafkaBrokerGone,
  kafkaBrokerStaysAway,
  openSearchKill,
  openSearchPause,
  openSearch429,
  bulkAcknowledgementsCut,
  rotation,
  ruleReload,
  newerRules,
];
