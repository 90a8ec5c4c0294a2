/** Every row of the fault table, one line each. */
import type { Row } from '../row.js';
import { blockedSetRebalanced } from './program/blocked-set-rebalanced.js';
import { bulkAcknowledgementsCut } from './opensearch/bulk-acknowledgements-cut.js';
import { clockJump } from './machine/clock-jump.js';
import { diskFull } from './machine/disk-full.js';
import { kafkaAcknowledgementsCut } from './kafka/acknowledgements-cut.js';
import { kafkaBrokerGone } from './kafka/broker-gone.js';
import { kafkaBrokerStaysAway } from './kafka/broker-stays-away.js';
import { kafkaKill } from './kafka/kill.js';
import { kafkaPause } from './kafka/pause.js';
import { killAfterBulk } from './program/kill-after-bulk.js';
import { killAllInOne } from './program/kill-all-in-one.js';
import { killProcessor } from './program/kill-processor.js';
import { killReceiver } from './program/kill-receiver.js';
import { lateBulksKilled } from './opensearch/late-bulks-killed.js';
import { lateBulksParked } from './opensearch/late-bulks-parked.js';
import { lateBulksRetired } from './opensearch/late-bulks-retired.js';
import { networkCutProcessor } from './machine/network-cut-processor.js';
import { networkCutReceiver } from './machine/network-cut-receiver.js';
import { networkCutSenders } from './machine/network-cut-senders.js';
import { newerRules } from './changes/newer-rules.js';
import { openSearch429 } from './opensearch/429.js';
import { openSearchFullDisk } from './opensearch/full-disk.js';
import { openSearchKill } from './opensearch/kill.js';
import { openSearchPause } from './opensearch/pause.js';
import { openSearchReadOnly } from './opensearch/read-only.js';
import { outputDown } from './outputs/down.js';
import { outputHung } from './outputs/hung.js';
import { outputRefusesTls } from './outputs/refuses-tls.js';
import { outputReset } from './outputs/reset.js';
import { outputSlow } from './outputs/slow.js';
import { partitionsAdded } from './kafka/partitions-added.js';
import { pausedBeforeBulk } from './program/paused-before-bulk.js';
import { pausedBeforeCut } from './program/paused-before-cut.js';
import { pausedPastSession } from './program/paused-past-session.js';
import { powerCut } from './machine/power-cut.js';
import { rebalance } from './program/rebalance.js';
import { refusedThenTaken } from './opensearch/refused-then-taken.js';
import { resendAfterRotations } from './changes/resend-after-rotations.js';
import { retention } from './changes/retention.js';
import { rotation } from './changes/rotation.js';
import { ruleReload } from './changes/rule-reload.js';
import { settingsChange } from './changes/settings-change.js';
import { topicMadeAgain } from './kafka/topic-made-again.js';

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
