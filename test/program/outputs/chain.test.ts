import { join } from 'node:path';
import t from 'tap';
import { startProgram, testFolder, until, type Program } from '../../program.js';
import { send, writeRules } from './with-outputs.js';

t.setTimeout(180_000);

interface Found {
  readonly total: number;
  readonly hits: readonly { readonly document: Record<string, unknown> }[];
}

/** Documents as text, without what each Sluice says of its own receiving. */
async function documentsOf(program: Program, count: number): Promise<string[]> {
  const found = await until(
    async () => {
      const result = (await program.control.request('POST', '/search', { query: '', limit: 1_000 })) as Found;
      return result.total >= count ? result : undefined;
    },
    60_000,
    () => program.output().slice(-3_000),
  );
  return found.hits
    .map(({ document }) => {
      const own = new Set(['_id', '_index', 'receive_time', 'receiver', 'peer_address', 'rule_set_version']);
      return JSON.stringify(
        Object.fromEntries(
          Object.entries(document)
            .filter(([name]) => !own.has(name))
            .sort(([left], [right]) => (left < right ? -1 : 1)),
        ),
      );
    })
    .sort();
}

t.test('a Sluice receives from a Sluice: equal documents over TCP, UDP and HTTP', async (t) => {
  const second = await startProgram(t);
  const folder = testFolder(t);
  const base = { type: 'gelf', host: '127.0.0.1' };
  const kinds = ['tcp', 'udp', 'http'] as const;
  const port = (protocol: (typeof kinds)[number]): number => second.port(`gelf-${protocol}`);
  writeRules(folder, {
    streams: kinds.map((protocol) => ({
      id: `by-${protocol}`,
      when: { field: 'by', equals: protocol },
      outputs: [protocol],
    })),
    outputs: kinds.map((protocol) => ({
      id: protocol,
      ...base,
      protocol,
      port: port(protocol),
      ...(protocol === 'http' ? { gelf: { messages_per_request: 10, compression: 'gzip' } } : {}),
    })),
  });
  const first = await startProgram(t, { folder, settings: { rules: { folder: join(folder, 'sluice.d') } } });
  const messages = kinds.flatMap((protocol) =>
    Array.from({ length: 40 }, (_, number) =>
      JSON.stringify({
        version: '1.1',
        host: 'höst',
        short_message: `m ${number}\n"é"`,
        full_message: 'x'.repeat(number === 7 ? 5_000 : 10),
        timestamp: 1_700_000_000.25 + number,
        level: number % 8,
        _by: protocol,
        _n: number,
        _nested: { a: [1, { b: 2 }] },
        _f: 0.1,
        _t: true,
        'odd name': 'o',
      }).replace('"_f"', '"_big":12345678901234567890,"_f"'),
    ),
  );
  await send(first, messages);
  const [left, right] = [await documentsOf(first, 120), await documentsOf(second, 120)];
  const streamless = (texts: readonly string[]): string[] =>
    texts.map((text) => text.replace(/"streams":\[[^\]]*\]/, '')).sort();
  t.equal(right.length, 120);
  t.same(streamless(right), streamless(left));
});
