/** Access over a real state store in a folder of its own. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';
import { createAccess, type CreateAccessOptions } from '../../access/access.js';
import type { Access, AccessAdministration, FirstPassword } from '../../access/contract.js';
import { allCapabilities } from '../../schemas/access.js';
import type { StreamName } from '../../access/rights/rights.js';
import { isSluiceError } from '../../core/errors.js';
import { silentLog } from '../../core/log.js';
import { Registry } from '../../core/metrics.js';
import type { Identity } from '../../schemas/access.js';
import type { AccessOptions } from '../../schemas/config/access.js';
import type { StateStore } from '../../state/contract.js';
import { createLevelState } from '../../state/leveldb.js';
import { settings } from '../../program/settings.js';

export const shippedStreams: readonly StreamName[] = [
  ['all-messages', 'All messages'],
  ['application-logs', 'Application logs'],
  ['system-logs', 'System logs'],
  ['audit-logs', 'Audit logs'],
  ['integration-logs', 'Integration logs'],
].map(([id = '', title = '']) => ({ id, title }));

export const here = { address: '127.0.0.1' } as const;

/** May do everything; no user that is kept. */
export const administrator: Identity = {
  userId: 'f'.repeat(24),
  username: 'test',
  roles: ['Administrator'],
  administrator: true,
  scope: { streams: 'all', except: [], deadLetters: true },
  editableStreams: 'all',
  capabilities: new Set(allCapabilities),
  by: 'password',
};

type AccessChange = { readonly [Name in keyof AccessOptions]?: Partial<AccessOptions[Name]> | AccessOptions[Name] };

function accessSettings(change: AccessChange = {}): AccessOptions {
  const values: Record<string, unknown> = {
    access: {
      first_passwords: { admin: 'admin-secret', operator: 'operator-secret', audit_viewer: 'viewer-secret' },
      ...change,
    },
  };
  const problems = settings.checkValues(values, (path) => path.join('.'));
  if (problems.length > 0) throw new Error(JSON.stringify(problems));
  return values['access'] as AccessOptions;
}

export async function createTestState(test: Test): Promise<StateStore> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-access-'));
  const state = createLevelState({ folder: join(folder, 'state'), log: silentLog });
  await state.start();
  test.teardown(async () => {
    await state.stop(5_000);
    await rm(folder, { recursive: true, force: true });
  });
  return state;
}

export interface TestAccess extends Access, AccessAdministration {
  readonly state: StateStore;
  readonly registry: Registry;
}

export type TestAccessOptions = Partial<Omit<CreateAccessOptions, 'settings'>> & {
  readonly settings?: AccessChange;
  readonly onFirstPasswords?: (made: readonly FirstPassword[]) => void;
};

export async function createTestAccess(
  test: Test,
  { settings, onFirstPasswords, ...options }: TestAccessOptions = {},
): Promise<TestAccess> {
  const state = options.state ?? (await createTestState(test));
  const registry = options.registry ?? new Registry();
  const access = createAccess({
    streams: () => shippedStreams,
    log: silentLog,
    ...options,
    state,
    registry,
    settings: accessSettings(settings),
  });
  await access.start();
  test.teardown(() => access.stop());
  const made = await access.makeDefaultUsers();
  if (made.length > 0) onFirstPasswords?.(made);
  return { ...access, state, registry };
}

/** The code of what a promise rejects with, or a function throws. */
export async function codeOf(run: (() => unknown) | Promise<unknown>): Promise<string> {
  try {
    await (typeof run === 'function' ? run() : run);
    return 'none';
  } catch (thrown) {
    return isSluiceError(thrown) ? thrown.code : String(thrown);
  }
}

export function password(
  username: string,
  text: string,
): { readonly kind: 'password'; readonly username: string; readonly password: string } {
  return { kind: 'password', username, password: text };
}

export async function hashesOf(registry: Registry): Promise<number> {
  const metric = await registry.getSingleMetric('sluice_password_hashes_total')?.get();
  return metric?.values[0]?.value ?? 0;
}

/** Polls until the condition holds. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const end = Date.now() + 60_000;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error('the condition did not come true in a minute');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
