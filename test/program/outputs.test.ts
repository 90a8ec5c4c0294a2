import { connect } from 'node:net';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { stringify } from 'yaml';
import { startProgram, testFolder, until, type Program } from '../program.js';
import { createStreamDestination } from '../sinks/outputs/receivers.js';

export interface OutputStatus {
  readonly id: string;
  readonly state: string;
  readonly lag: number;
  readonly lastError?: string;
}

function writeRules(folder: string, rules: unknown): void {
  mkdirSync(join(folder, 'sluice.d'), { recursive: true });
  writeFileSync(join(folder, 'sluice.d', 'outputs.yaml'), stringify(rules));
}

async function send(program: Program, messages: readonly string[]): Promise<void> {
  const socket = connect(program.port('gelf-tcp'), '127.0.0.1');
  await new Promise<void>((resolve) => socket.end(messages.map((message) => `${message}\0`).join(''), () => resolve()));
}

const outputsOf = async (program: Program): Promise<readonly OutputStatus[]> => ((await program.status()) as unknown as { outputs: readonly OutputStatus[] }).outputs;

t.test('messages of a stream leave by GELF TCP: untouched ones byte for byte, changed ones with what rules changed', async (t) => {
  const destination = await createStreamDestination(t);
  const folder = testFolder(t);
  writeRules(folder, {
    rules: [{ id: 'team', when: { field: 'kind', equals: 'b' }, then: [{ set: { field: 'team', value: 'payments' } }] }],
    outputs: [{ id: 'archive', type: 'gelf', host: '127.0.0.1', port: destination.port, streams: ['all-messages'] }],
  });
  const program = await startProgram(t, { folder, settings: { rules: { folder: join(folder, 'sluice.d') } } });
  const plain = '{ "version":"1.1","host":"h",  "short_message":"as it came","_kind":"a","_big":12345678901234567890,"level":6,"_hostname":"h" }';
  await send(program, [plain, '{"version":"1.1","host":"h","short_message":"changed","_kind":"b","_nested":{"a": 1},"level":6,"_hostname":"h"}']);
  const frames = await until(() => (destination.frames(0).length === 2 ? destination.frames(0) : undefined), 10_000, () => program.output());
  t.same(frames, [plain, '{"version":"1.1","host":"h","short_message":"changed","_kind":"b","_nested":{"a": 1},"level":6,"_hostname":"h","_team":"payments"}']);
  await until(async () => ((await outputsOf(program))[0]?.lag === 0 ? true : undefined), 10_000, () => program.output());
  t.match(await outputsOf(program), [{ id: 'archive', state: 'connected', lag: 0 }]);
  t.equal(await program.end(), 0);
});
