/** Objects over a state and a rule folder of their own. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';
import { silentLog } from '../../core/log.js';
import { loadConfig, settings } from '../../program/settings.js';
import { createDefinitionStore, type DefinitionStore } from '../../definitions/definition-store.js';
import type { Config } from '../../schemas/config/config.js';
import type { StateStore } from '../../state/contract.js';
import { createLevelState } from '../../state/leveldb.js';

export interface Rig {
  readonly folder: string;
  readonly config: Config;
  readonly state: StateStore;
  readonly world: DefinitionStore;
  /** Another process on the same state. */
  another(): Promise<DefinitionStore>;
}

export async function createRig(t: Test, changes: object = {}): Promise<Rig> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-objects-'));
  const log = silentLog;
  const state = createLevelState({ folder: join(folder, 'state'), log, reserveBytes: 0 });
  const config = { ...configOf(), rules: { folder: join(folder, 'rules'), watch: true }, ...changes } as Config;
  await state.start();
  const worlds: DefinitionStore[] = [];
  const another = async (): Promise<DefinitionStore> => {
    const world = createDefinitionStore({
      config,
      settings,
      state,
      stateIs: 'shared',
      applied: () => Promise.resolve(),
      log,
    });
    worlds.push(world);
    await world.start();
    return world;
  };
  t.teardown(async () => {
    for (const world of worlds) await world.stop(1_000);
    await state.stop(1_000);
    rmSync(folder, { recursive: true, force: true });
  });
  return { folder, config, state, world: await another(), another };
}

function configOf(): Config {
  const loaded = loadConfig({ folder: tmpdir(), environment: {} });
  return loaded.config;
}

export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const end = Date.now() + 60_000;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error('the state that was waited for never came');
    await new Promise((resolve) => {
      setTimeout(resolve, 20);
    });
  }
}
