/** GELF over UDP as another implementation takes it apart. */
import { type EventEmitter } from 'node:events';
import { createRequire } from 'node:module';
import t from 'tap';
import { until } from '../../program.js';
import { freePort } from '../../sinks/outputs/syslog-daemons.js';
import { createWorld } from './world.js';

interface GrayGelfServer extends EventEmitter {
  listen(port: number, address: string): GrayGelfServer;
  close(): void;
}

const createServer = createRequire(import.meta.url)('graygelf/server.js') as () => GrayGelfServer;

t.test('graygelf takes datagrams and chunks, compressed and not', async (t) => {
  for (const compression of ['none', 'gzip', 'zlib'] as const) {
    const port = await freePort();
    const server = createServer();
    const messages: { short_message?: string; _n?: number }[] = [];
    server
      .on('message', (message: { short_message?: string; _n?: number }) => {
        messages.push(message);
      })
      .on('error', () => undefined);
    server.listen(port, '127.0.0.1');
    t.teardown(() => server.close());
    const world = await createWorld(t, [
      { id: 'a', protocol: 'udp', port, gelf: { compression, datagram_bytes: 512 } },
    ]);
    const text = (number: number): string =>
      Array.from({ length: number * 40 }, (_, at) =>
        String.fromCharCode(97 + ((at * 7919 + number * 104_729) % 26)),
      ).join('');
    await world.append(
      'a',
      Array.from({ length: 30 }, (_, number) =>
        JSON.stringify({ version: '1.1', host: 'h', short_message: `x${text(number)}`, _n: number }),
      ),
    );
    await until(
      () => (messages.length === 30 ? true : undefined),
      15_000,
      () => `${compression}: ${messages.length} of 30`,
    );
    t.same(
      messages.map(({ _n: number }) => number).sort((left = 0, right = 0) => left - right),
      Array.from({ length: 30 }, (_, number) => number),
      compression,
    );
    t.ok(
      messages.every(({ short_message: short, _n: number = 0 }) => short === `x${text(number)}`),
      `${compression}: whole`,
    );
  }
});
