/** Every row of the fault table, one line each. */
import type { Row } from '../row.js';
import { blockedSetRebalanced } from './blocked-set-rebalanced.js';
import { bulkAcknowledgementsCut } from './bulk-acknowledgements-cut.js';
import { clockJump } from './clock-jump.js';
import { diskFull } from './disk-full.js';
import { kafkaAcknowledgementsCut } from './kafka-acknowledgements-cut.js';
import { kafkaBrokerGone } from './kafka-broker-gone.js';
import { kafkaBrokerStaysAway } from './kafka-broker-stays-away.js';
import { kafkaKill } from './kafka-kill.js';
import { kafkaPause } from './kafka-pause.js';
import { killAfterBulk } from './kill-after-bulk.js';
import { killAllInOne } from './kill-all-in-one.js';
import { killProcessor } from './kill-processor.js';
import { killReceiver } from './kill-receiver.js';
import { lateBulksKilled } from './late-bulks-killed.js';
import { lateBulksParked } from './late-bulks-parked.js';
import { lateBulksRetired } from './late-bulks-retired.js';
import { networkCutProcessor } from './network-cut-processor.js';
import { networkCutReceiver } from './network-cut-receiver.js';
import { networkCutSenders } from './network-cut-senders.js';
import { newerRules } from './newer-rules.js';
import { openSearch429 } from './opensearch-429.js';
import { openSearchFullDisk } from './opensearch-full-disk.js';
import { openSearchKill } from './opensearch-kill.js';
import { openSearchPause } from './opensearch-pause.js';
import { openSearchReadOnly } from './opensearch-read-only.js';
import { outputDown } from './output-down.js';
import { outputHung } from './output-hung.js';
import { outputRefusesTls } from './output-refuses-tls.js';
import { outputReset } from './output-reset.js';
import { outputSlow } from './output-slow.js';
import { partitionsAdded } from './partitions-added.js';
import { pausedBeforeBulk } from './paused-before-bulk.js';
import { pausedBeforeCut } from './paused-before-cut.js';
import { pausedPastSession } from './paused-past-session.js';
import { powerCut } from './power-cut.js';
import { rebalance } from './rebalance.js';
import { refusedThenTaken } from './refused-then-taken.js';
import { resendAfterRotations } from './resend-after-rotations.js';
import { retention } from './retention.js';
import { rotation } from './rotation.js';
import { ruleReload } from './rule-reload.js';
import { settingsChange } from './settings-change.js';
import { topicMadeAgain } from './topic-made-again.js';

export const rows: readonly Row[] = [
  killAllInOne,
  killProcessor,
  killReceiver,
  killAfterBulk,
  powerCut,
  diskFull,
  kafkaKill,
  kafkaPause,
  kafkaAcknowledgementsCut,
  resendAfterRotations,
  kafkaBrokerGone,
  kafkaBrokerStaysAway,
  openSearchKill,
  openSearchPause,
  openSearch429,
  bulkAcknowledgementsCut,
  lateBulksKilled,
  lateBulksRetired,
  lateBulksParked,
  openSearchReadOnly,
  openSearchFullDisk,
  blockedSetRebalanced,
  refusedThenTaken,
  pausedPastSession,
  pausedBeforeBulk,
  pausedBeforeCut,
  rebalance,
  networkCutProcessor,
  networkCutReceiver,
  networkCutSenders,
  clockJump,
  rotation,
  retention,
  ruleReload,
  newerRules,
  settingsChange,
  partitionsAdded,
  topicMadeAgain,
  ...outputDown,
  ...outputHung,
  ...outputReset,
  ...outputSlow,
  ...outputRefusesTls,
];
