/** Error codes of the topic logs, both adapters. */
import { defineErrors } from '../core/errors.js';

export const topicErrors = defineErrors({
  TOPIC_KIND_UNKNOWN: { retryable: false, summary: 'There is no topic log of this kind.' },
  TOPIC_UNKNOWN: { retryable: false, summary: 'The topic does not exist; ensureTopics creates it.' },
  TOPIC_PARTITION_UNKNOWN: { retryable: false, summary: 'The topic has no such partition.' },
  TOPIC_NAME_INVALID: { retryable: false, summary: 'The name of a topic or group cannot be used.' },
  TOPIC_RECORD_INVALID: {
    retryable: false,
    summary: 'The record cannot be stored: its key must be ASCII of at most 255 bytes.',
  },
  TOPIC_RECORD_TOO_LARGE: { retryable: false, summary: 'The record is larger than the topic takes.' },
  TOPIC_LOG_STOPPED: {
    retryable: false,
    summary: 'The topic log has been stopped; what was not acknowledged must be sent again after the next start.',
  },
  TOPIC_LOG_NOT_STARTED: { retryable: false, summary: 'The topic log has not been started.' },
  TOPIC_READ_ONLY: { retryable: false, summary: 'This topic log was opened for reading only.' },
  TOPIC_FOLDER_IN_USE: {
    retryable: false,
    exitCode: 2,
    summary: 'Another process writes the topics of this folder; stop it first, or give this one another data folder.',
  },
  TOPIC_FOLDER_UNWRITABLE: {
    retryable: false,
    exitCode: 2,
    summary: 'The folder of the topics cannot be created or written; check its owner, its rights and the disk.',
  },
  TOPIC_FORMAT_NEWER: {
    retryable: false,
    exitCode: 2,
    summary: 'The topic was written by a newer version of Sluice; start that version, or another data folder.',
  },
  TOPIC_FILE_CORRUPT: {
    retryable: false,
    summary: "A file of the topic log cannot be read; restore it from a backup or remove the topic's folder.",
  },
  TOPIC_FRAME_CORRUPT: {
    retryable: false,
    summary: 'Records of the topic cannot be read: a checksum does not match. They are skipped and counted as lost.',
  },
  TOPIC_DISK_FULL: { retryable: true, summary: 'The disk of the topics is full; appends wait until there is room.' },
  TOPIC_WRITE_FAILED: { retryable: true, summary: 'The topic could not be written; the append is tried again.' },
  TOPIC_GROUP_IN_USE: { retryable: false, summary: 'The group already has a consumer of this topic in this process.' },
  TOPIC_BROKERS_UNREACHABLE: { retryable: true, summary: 'None of the Kafka brokers answers.' },
  TOPIC_FETCH_CORRUPT: {
    retryable: true,
    summary: 'What a Kafka broker sent does not match its checksum; it is fetched again.',
  },
  TOPIC_PARTITION_REVOKED: {
    retryable: true,
    summary: 'This consumer no longer owns the partition; its batch must not be written.',
  },
  TOPIC_COMMIT_INVALID: {
    retryable: false,
    summary: 'The offset or metadata to commit is outside of what is allowed.',
  },
});
