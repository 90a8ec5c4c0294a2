/** `sluice status`, once or again and again: watched, it shows rates between two looks. */
import type { ControlClient } from '../../api/control/client.js';
import { createSearchTerminal } from '../search/terminal.js';
import { statusText } from './status.js';
import { clearScreen, pause } from './verbs.js';
import { safeJson } from '../search/output.js';

const everySeconds = 2;

export async function runStatus(
  control: ControlClient,
  flags: { readonly json?: boolean; readonly watch?: boolean },
): Promise<void> {
  let before = await control.request('GET', '/status');
  if (flags.watch !== true) {
    process.stdout.write(flags.json === true ? `${safeJson(before, 2)}\n` : statusText(before));
    return;
  }
  const { terminal, stop } = createSearchTerminal();
  try {
    while (await pause(everySeconds, terminal.signal)) {
      const now = await control.request('GET', '/status');
      terminal.print(flags.json === true ? safeJson(now) : clearScreen() + statusText(now, before).trimEnd());
      before = now;
    }
  } finally {
    stop();
  }
}
