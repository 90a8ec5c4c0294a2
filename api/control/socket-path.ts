/** Where the control socket of a process is. */
import { createHash } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** sockaddr_un holds 108 bytes with the final NUL. */
const maxSocketPath = 107;

/**
 * `control.sock` in the data folder, or in the runtime folder when that path is too long for a socket.
 * A process with one role has a name of its own: `control-receiver.sock`, `control-output.sock`, `control-api.sock`.
 * So has a worker: `control-worker-1.sock`.
 */
export function controlSocketPath(
  dataFolder: string,
  runtimeFolder: string | undefined,
  only: boolean | 'output' | 'api' = false,
  worker?: number,
): string {
  const path = join(
    dataFolder,
    `control${only === false ? '' : only === true ? '-receiver' : `-${only}`}${worker === undefined ? '' : `-worker-${worker}`}.sock`,
  );
  if (Buffer.byteLength(path) <= maxSocketPath) return path;
  const name = `sluice-${createHash('sha256').update(path).digest('hex').slice(0, 16)}.sock`;
  return join(runtimeFolder ?? tmpdir(), name);
}
