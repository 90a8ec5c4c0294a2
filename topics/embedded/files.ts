/** Names and durable small files of the topic folder. */
import { open, readdir, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { topicErrors } from '../errors.js';

const segmentEnding = '.segment';
const safeName = /^(?!\.{1,2}$)[A-Za-z0-9._-]{1,200}$/;

/** Topic and group names become folder and file names as they are. */
export function assertName(kind: 'topic' | 'group', name: string): void {
  if (!safeName.test(name)) {
    throw topicErrors.create('TOPIC_NAME_INVALID', {
      place: kind,
      got: JSON.stringify(name.slice(0, 250)),
      allowed: 'letters, digits, dot, underscore and hyphen, at most 200',
    });
  }
}

export const topicsFolder = (folder: string) => join(folder, 'topics');
export const topicFolder = (folder: string, topic: string) => join(folder, 'topics', topic);
export const partitionFolder = (folder: string, topic: string, partition: number) =>
  join(folder, 'topics', topic, String(partition));
export const groupsFolder = (folder: string) => join(folder, 'groups');
export const segmentFile = (base: number) => `${String(base).padStart(20, '0')}${segmentEnding}`;

/** Base offsets of the segment files of a partition folder, oldest first. */
export async function listSegments(folder: string): Promise<number[]> {
  const names = await readdir(folder);
  return names
    .filter((name) => /^\d{20}\.segment$/.test(name))
    .map((name) => Number(name.slice(0, -segmentEnding.length)))
    .sort((left, right) => left - right);
}

/** Makes creations, renames and removals in a folder durable. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Replaces a file: after a crash it has the old content or the new one. */
export async function writeDurably(file: string, content: string): Promise<void> {
  const temporary = `${file}.new`;
  const handle = await open(temporary, 'w');
  try {
    await handle.writeFile(content);
    await handle.datasync();
  } finally {
    await handle.close();
  }
  await rename(temporary, file);
  await syncFolder(dirname(file));
}

export const hasCode = (thrown: unknown, code: string): boolean =>
  typeof thrown === 'object' && thrown !== null && 'code' in thrown && thrown.code === code;
