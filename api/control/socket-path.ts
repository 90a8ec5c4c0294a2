/** Where the control socket of a process is. */
import { createHash } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** sockaddr_un holds 108 bytes with the final NUL. */
const maxSocketPath = 107;

/** `control.sock` in the data folder (`control-receiver.sock` of a process that only receives, `control-output.sock` of one that only sends, `control-api.sock` of one that only serves the API, `control-worker-1.sock` of a worker), or in the runtime folder when that path is too long for a socket. */
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
