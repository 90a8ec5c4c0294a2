/** What the tests of outputs in the real program share. */
import { connect } from 'node:net';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { Program } from '../../program.js';

interface OutputStatus {
  readonly id: string;
  readonly state: string;
  readonly lag: number;
  readonly lastError?: string;
}

export function writeRules(folder: string, rules: unknown): void {
  mkdirSync(join(folder, 'sluice.d'), { recursive: true });
  writeFileSync(join(folder, 'sluice.d', 'outputs.yaml'), stringify(rules));
}

export async function send(program: Program, messages: readonly string[]): Promise<void> {
  const socket = connect(program.port('gelf-tcp'), '127.0.0.1');
  await new Promise<void>((resolve) => socket.end(messages.map((message) => `${message}\0`).join(''), () => resolve()));
}

export const outputsOf = async (program: Program): Promise<readonly OutputStatus[]> =>
  ((await program.status()) as unknown as { outputs: readonly OutputStatus[] }).outputs;

/** Numbers of the messages, in the order of their first arrival. */
export const numbersOf = (frames: readonly string[]): number[] => [
  ...new Set(frames.map((frame) => Number(/"_n":(\d+)/.exec(frame)?.[1]))),
];

export const numberedMessages = (count: number): string[] =>
  Array.from(
    { length: count },
    (_, number) => `{"version":"1.1","host":"h","short_message":"m","_n":${number},"level":6,"_hostname":"h"}`,
  );
