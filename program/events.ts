import { defineEvents } from '../core/events.js';

export const programEvents = defineEvents({
  receiverStarted: {
    level: 'info',
    message: 'receiver started',
    fields: { receiver: 'text', protocol: 'text', host: 'text', port: 'number', tls: 'boolean' },
  },
  receiverNotStarted: {
    level: 'error',
    message: (text) => text,
    fields: { receiver: 'text', error: 'text' },
  },
  receiverStopped: {
    level: 'info',
    message: (text) => text,
    fields: { receiver: 'text' },
  },
  receiversNotApplied: {
    level: 'error',
    message: 'receivers made through the API could not be brought in line',
    fields: { error: 'text' },
  },
  retentionFailed: {
    level: 'warn',
    message: 'retention failed; it is repeated',
    fields: { error: 'text' },
  },
  rulesChanged: {
    level: 'info',
    message: 'rules changed',
    fields: { rule_set_version: 'text' },
  },
  rulesRefused: {
    level: 'error',
    message: 'the changed rules cannot take effect; the rules before stay in force',
    fields: { error: 'text', rule_set_version: 'text?' },
  },
  epochsUnread: {
    level: 'warn',
    message: 'epochs could not be read; trying again',
    fields: { error: 'text' },
  },
  dataFolderExposed: {
    level: 'warn',
    message:
      'other users of this machine may enter the data folder, where messages and secrets lie in the clear: chmod o-rwx it',
    fields: { folder: 'text', mode: 'text' },
  },
  offsetsCompacted: {
    level: 'info',
    message: 'committed offsets compacted',
    fields: { groups: 'texts' },
  },
  stateVersionUnread: {
    level: 'warn',
    message: 'the version of the state could not be read',
    fields: { error: 'text' },
  },
  topicWarned: {
    level: 'warn',
    message: (text) => text,
  },
  partNotStopped: {
    level: 'error',
    message: 'a part did not stop cleanly',
    fields: { error: 'text' },
  },
  workerEnded: {
    level: 'error',
    message: (text) => text,
    fields: { worker: 'number', ended: 'text?', start_again_after_ms: 'number?' },
  },
  workerFailed: {
    level: 'fatal',
    message: 'cannot go on; stopping',
    fields: { error: 'text' },
  },
  workerStarted: {
    level: 'info',
    message: 'worker started',
    fields: { receivers: 'object' },
  },
  workerStopped: {
    level: 'info',
    message: 'worker stopped',
  },
});
