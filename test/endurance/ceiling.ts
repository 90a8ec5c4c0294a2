/** How many messages a second the whole program takes, from socket to index, on this machine at this moment. */
import type { Program } from '../program.js';
import { until } from '../program.js';
import { scrape } from './figures.js';
import { loadInChild } from './load-process.js';
import type { Scope } from './scope.js';

interface Ceiling {
  readonly perSecond: number;
  readonly messages: number;
  readonly seconds: number;
}

/**
 * Four connections as fast as TCP lets them; the time runs until the last message is stored. The first second, in which
 * code is compiled, is a run of its own.
 */
export async function measureCeiling(
  scope: Pick<Scope, 'teardown'>,
  program: Program,
  forMs: number,
  host = '127.0.0.1',
): Promise<Ceiling> {
  const { admin_port: admin } = await program.status();
  const tcp = program.port('gelf-tcp');
  const stored = async (): Promise<number> => (await scrape(admin))('sluice_documents_stored_total');
  const flatOut = async (ms: number): Promise<Ceiling> => {
    const before = await stored();
    const began = performance.now();
    const { sent } = await loadInChild(scope, {
      rate: 0,
      forMs: ms,
      transport: 'tcp',
      connections: 4,
      host,
      ports: { tcp },
    });
    await until(
      async () => ((await stored()) - before >= sent ? true : undefined),
      300_000,
      () => 'the messages of the ceiling were not all stored',
    );
    const seconds = (performance.now() - began) / 1000;
    return { perSecond: sent / seconds, messages: sent, seconds };
  };
  await flatOut(500);
  return flatOut(forMs);
}
