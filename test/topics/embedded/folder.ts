/** Folders and logs for the tests of the embedded topics; removed and stopped at teardown. */
import { spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';
import { silentLog } from '../../../core/log.js';
import { Registry } from '../../../core/metrics.js';
import { createEmbeddedTopicLog, type EmbeddedLog, type EmbeddedTopicLogOptions } from '../../../topics/embedded.js';

export async function createFolder(test: Test): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-topics-'));
  test.teardown(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** A folder on a disk of its own, or undefined where mounting is not allowed. */
export async function createSmallDisk(test: Test, bytes: number): Promise<string | undefined> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-disk-'));
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes}`, 'tmpfs', folder]).status === 0;
  test.teardown(async () => {
    if (mounted) spawnSync('umount', [folder]);
    await rm(folder, { recursive: true, force: true });
  });
  return mounted ? folder : undefined;
}

export function createLog(test: Test, folder: string, changes: Partial<EmbeddedTopicLogOptions> = {}): EmbeddedLog {
  const log = createEmbeddedTopicLog({
    folder,
    segmentBytes: 64 * 1024,
    reserveBytes: 1,
    log: silentLog,
    registry: new Registry(),
    ...changes,
  });
  test.teardown(() => log.stop(1000));
  return log;
}

export async function startLog(
  test: Test,
  folder: string,
  changes: Partial<EmbeddedTopicLogOptions> = {},
): Promise<EmbeddedLog> {
  const log = createLog(test, folder, changes);
  await log.start();
  return log;
}

/** The value of a counter or gauge, summed over the label sets that match. */
export async function metricValue(
  registry: Registry,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): Promise<number> {
  const metric = await registry.getSingleMetric(name)?.get();
  const matching = (metric?.values ?? []).filter((value) =>
    Object.entries(labels).every(([label, wanted]) => value.labels[label] === wanted),
  );
  return matching.reduce((sum, { value }) => sum + value, 0);
}
