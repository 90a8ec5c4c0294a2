/** Messages over GELF HTTP, each acknowledged, and the ids and texts that the store holds. */
import type { Program } from '../program.js';

/** Sends messages `<prefix> <n>`; resolves when all are acknowledged. */
export async function sendNumbered(program: Program, prefix: string, count: number): Promise<string[]> {
  const texts = Array.from({ length: count }, (_, place) => `${prefix} ${place}`);
  const body = texts.map((text) => JSON.stringify({ version: '1.1', host: 'sender', short_message: text })).join('\n');
  const reply = await fetch(`http://127.0.0.1:${program.port('gelf-http')}/gelf`, { method: 'POST', body });
  if (reply.status !== 202) throw new Error(`not accepted: ${reply.status} ${await reply.text()}`);
  return texts;
}

/** Ids in all index sets, each as often as it is there. */
export async function storedIds(program: Program): Promise<string[]> {
  const ids: string[] = [];
  await program.control.stream('/scan-ids', {}, (line) => {
    ids.push(...(line as { ids: readonly string[] }).ids);
  });
  return ids;
}
