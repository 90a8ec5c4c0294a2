/** `<folder>/topics/<topic>/topic.json`: what the topic is, and its generation. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { toError } from '../../core/errors.js';
import type { TopicSpec } from '../contract.js';
import { topicErrors } from '../errors.js';
import { hasCode, topicFolder, writeDurably } from './files.js';

const formatVersion = 1;

export interface TopicInfo {
  /** Changes when the topic was deleted and made again: the time of its making, in milliseconds. */
  readonly generation: number;
  readonly partitions: number;
  readonly retentionBytes: number | undefined;
  readonly retentionMs: number | undefined;
  readonly maxMessageBytes: number;
}

export const infoOf = (spec: TopicSpec, generation: number): TopicInfo => ({
  generation,
  partitions: spec.partitions,
  retentionBytes: spec.retentionBytes,
  retentionMs: spec.retentionMs,
  maxMessageBytes: spec.maxMessageBytes,
});

export const sameInfo = (left: TopicInfo, right: TopicInfo): boolean => JSON.stringify(left) === JSON.stringify(right);

export async function writeTopicInfo(folder: string, topic: string, info: TopicInfo): Promise<void> {
  const content = {
    format_version: formatVersion,
    generation: info.generation,
    partitions: info.partitions,
    retention_bytes: info.retentionBytes,
    retention_ms: info.retentionMs,
    max_message_bytes: info.maxMessageBytes,
  };
  await writeDurably(join(topicFolder(folder, topic), 'topic.json'), `${JSON.stringify(content, undefined, 2)}\n`);
}

/** Undefined when there is no such topic. */
export async function readTopicInfo(folder: string, topic: string): Promise<TopicInfo | undefined> {
  const file = join(topicFolder(folder, topic), 'topic.json');
  let content: unknown;
  try {
    content = JSON.parse(await readFile(file, 'utf8'));
  } catch (thrown) {
    if (hasCode(thrown, 'ENOENT') || hasCode(thrown, 'ENOTDIR')) return undefined;
    throw topicErrors.create('TOPIC_FILE_CORRUPT', { place: file, got: toError(thrown).message, cause: thrown });
  }
  return parseInfo(file, content);
}

function parseInfo(file: string, content: unknown): TopicInfo {
  const fields = typeof content === 'object' && content !== null ? (content as Record<string, unknown>) : {};
  const {
    format_version: version,
    generation,
    partitions,
    retention_bytes: retentionBytes,
    retention_ms: retentionMs,
    max_message_bytes: maxMessageBytes,
  } = fields;
  if (typeof version === 'number' && version > formatVersion) {
    throw topicErrors.create('TOPIC_FORMAT_NEWER', {
      place: file,
      got: `format ${version}`,
      allowed: `up to ${formatVersion}`,
    });
  }
  if (
    version !== formatVersion ||
    typeof generation !== 'number' ||
    typeof partitions !== 'number' ||
    typeof maxMessageBytes !== 'number'
  ) {
    throw topicErrors.create('TOPIC_FILE_CORRUPT', { place: file, got: JSON.stringify(content).slice(0, 200) });
  }
  return {
    generation,
    partitions,
    maxMessageBytes,
    retentionBytes: typeof retentionBytes === 'number' ? retentionBytes : undefined,
    retentionMs: typeof retentionMs === 'number' ? retentionMs : undefined,
  };
}
