import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { packageRoot } from '../../core/process/package-root.js';
import { createDecoder } from '../../gelf/decoder.js';

const folder = join(packageRoot, 'test/fixtures/gelf/constructed');
const receivedAt = Date.UTC(2026, 0, 2, 3, 4, 6);

t.test('what forwarders send becomes the documents that the fixtures show', async (t) => {
  const decoder = createDecoder();
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.json'))) {
    const { input, document } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as {
      readonly input: string;
      readonly document: unknown;
    };
    for (const bytes of [Buffer.from(input), Buffer.from(`${input}\0`), Buffer.from(`\uFEFF${input}\n`)]) {
      const parsed = decoder.parse(bytes);
      if ('error' in parsed) throw parsed.error;
      t.strictSame(
        decoder.toDocument(parsed, { receiver: 'gelf-tcp', peer: '10.0.0.7:51312', receivedAt, timestamp: 'sender' }),
        document,
        file,
      );
    }
  }
});
