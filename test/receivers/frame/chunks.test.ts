import fc from 'fast-check';
import t from 'tap';
import { isSluiceError } from '../../../core/errors.js';
import { createChunkAssembler, type ChunkAssembler } from '../../../receivers/frame/chunks.js';

const peer = '10.0.0.7:5000';

function chunk(id: string, number: number, count: number, data: string | Buffer): Buffer {
  return Buffer.concat([
    Buffer.from([0x1e, 0x0f]),
    Buffer.from(id.padEnd(8, '_').slice(0, 8), 'latin1'),
    Buffer.from([number, count]),
    Buffer.from(data),
  ]);
}

function create(limits: { maxSets?: number; maxBytes?: number } = {}) {
  const clock = { time: 1_000_000 };
  const assembler = createChunkAssembler(
    { maxSets: 100, maxBytes: 10_000_000, timeoutMs: 5000, ...limits },
    () => clock.time,
  );
  return { clock, assembler };
}

function add(assembler: ChunkAssembler, datagram: Buffer, from = peer): string | undefined {
  const outcome = assembler.add(datagram, from);
  if (outcome === undefined) return undefined;
  return isSluiceError(outcome) ? outcome.code : outcome.toString();
}

t.test('a message in one chunk is complete at once', async (t) => {
  const { assembler } = create();
  t.equal(add(assembler, chunk('a', 0, 1, 'whole')), 'whole');
  t.match(assembler.counters, { chunks: 1, completed: 1, waitingSets: 0, waitingBytes: 0 });
});

t.test('chunks are joined in any order, also 128 of them', async (t) => {
  const { assembler } = create();
  t.equal(add(assembler, chunk('a', 1, 2, 'bar')), undefined);
  t.match(assembler.counters, { waitingSets: 1 });
  t.equal(add(assembler, chunk('a', 0, 2, 'foo')), 'foobar');
  const order = Array.from({ length: 128 }, (_, index) => (index * 37) % 128);
  const outcomes = order.map((number) => add(assembler, chunk('b', number, 128, `${number},`)));
  t.equal(outcomes.at(-1), Array.from({ length: 128 }, (_, index) => `${index},`).join(''));
  t.match(assembler.counters, { completed: 2, waitingSets: 0, waitingBytes: 0 });
});

t.test('senders with the same id do not disturb each other, nor do two ids of one sender', async (t) => {
  const { assembler } = create();
  add(assembler, chunk('a', 0, 2, '1'), '10.0.0.1:1');
  add(assembler, chunk('a', 0, 2, '2'), '10.0.0.2:1');
  add(assembler, chunk('b', 0, 2, '3'), '10.0.0.1:1');
  t.equal(add(assembler, chunk('b', 1, 2, '!'), '10.0.0.1:1'), '3!');
  t.equal(add(assembler, chunk('a', 1, 2, '!'), '10.0.0.2:1'), '2!');
  t.equal(add(assembler, chunk('a', 1, 2, '!'), '10.0.0.1:1'), '1!');
});

t.test('duplicates are counted and ignored, before and after completion', async (t) => {
  const { assembler, clock } = create();
  add(assembler, chunk('a', 0, 2, 'x'));
  t.equal(add(assembler, chunk('a', 0, 2, 'x')), undefined);
  t.equal(add(assembler, chunk('a', 1, 2, 'y')), 'xy');
  clock.time += 4000;
  t.equal(add(assembler, chunk('a', 1, 2, 'y')), undefined);
  t.equal(add(assembler, chunk('a', 0, 2, 'x')), undefined);
  t.match(assembler.counters, { duplicate: 3, completed: 1, waitingSets: 0 });
  t.equal(add(assembler, chunk('s', 0, 1, 'single')), 'single');
  t.equal(add(assembler, chunk('s', 0, 1, 'single')), undefined);
});

t.test('an id that is used again for another message opens a new set', async (t) => {
  const { assembler } = create();
  add(assembler, chunk('a', 0, 2, 'x'));
  t.equal(add(assembler, chunk('a', 1, 2, 'y')), 'xy');
  t.equal(add(assembler, chunk('a', 0, 2, 'v')), undefined);
  t.equal(add(assembler, chunk('a', 1, 2, 'w')), 'vw');
  t.match(assembler.counters, { duplicate: 0, completed: 2 });
});

t.test('a bad chunk costs itself and not its set', async (t) => {
  const { assembler } = create();
  add(assembler, chunk('a', 0, 3, '1'));
  t.equal(add(assembler, chunk('a', 1, 2, '2')), 'CHUNK_COUNT_MISMATCH');
  t.equal(add(assembler, chunk('a', 0, 3, 'other')), 'CHUNK_ID_REUSED');
  t.equal(add(assembler, chunk('a', 3, 3, '2')), 'CHUNK_NUMBER_INVALID');
  t.equal(add(assembler, chunk('a', 0, 0, '2')), 'CHUNK_COUNT_INVALID');
  t.equal(add(assembler, chunk('a', 0, 129, '2')), 'CHUNK_COUNT_INVALID');
  t.equal(add(assembler, Buffer.from([0x1e, 0x0f, 1, 2, 3])), 'CHUNK_HEADER_SHORT');
  t.equal(add(assembler, chunk('n', 0, 1, Buffer.from([0x1e, 0x0f, 0x61]))), 'CHUNK_NESTED');
  add(assembler, chunk('a', 1, 3, '2'));
  t.equal(add(assembler, chunk('a', 2, 3, '3')), '123');
  t.match(assembler.counters, { refused: 7, completed: 1, waitingSets: 0, waitingBytes: 0 });
});

t.test('the last chunk may be empty, and so may the whole message', async (t) => {
  const { assembler } = create();
  add(assembler, chunk('a', 0, 2, 'x'));
  t.equal(add(assembler, chunk('a', 1, 2, '')), 'x');
  t.equal(add(assembler, chunk('b', 0, 1, '')), '');
});

t.test('an incomplete set expires after its time, and its late chunk opens a new one', async (t) => {
  const { assembler, clock } = create();
  for (const number of [0, 1, 2, 3]) add(assembler, chunk('a', number, 5, `data${number}`));
  clock.time += 4999;
  t.same(assembler.expire(), []);
  clock.time += 1;
  t.match(assembler.expire(), [{ error: { code: 'CHUNK_SET_EXPIRED' }, peer, received: 4, total: 5, bytes: 20 }]);
  t.match(assembler.counters, { expired: 1, waitingSets: 0, waitingBytes: 0 });
  t.equal(add(assembler, chunk('a', 4, 5, 'late')), undefined);
  t.match(assembler.counters, { waitingSets: 1, chunks: 5 });
});

t.test('a set that is too old is given up by its next chunk, without waiting for the sweep', async (t) => {
  const { assembler, clock } = create();
  add(assembler, chunk('a', 0, 2, 'old'));
  clock.time += 6000;
  t.equal(add(assembler, chunk('a', 1, 2, 'new')), undefined);
  t.match(assembler.expire(), [{ received: 1, total: 2 }]);
  t.match(assembler.counters, { expired: 1, waitingSets: 1 });
});

t.test('at the bound of sets the oldest gives way, and pending sets still complete', async (t) => {
  const { assembler } = create({ maxSets: 3 });
  for (const id of ['a', 'b', 'c']) add(assembler, chunk(id, 0, 2, id));
  add(assembler, chunk('d', 0, 2, 'd'));
  t.match(assembler.counters, { evicted: 1, waitingSets: 3 });
  t.equal(add(assembler, chunk('b', 1, 2, '!')), 'b!');
  t.equal(add(assembler, chunk('d', 1, 2, '!')), 'd!');
  t.match(assembler.expire(), [{ error: { code: 'CHUNK_SET_EVICTED' }, peer, received: 1, total: 2 }]);
});

t.test('a flood of sets that never complete keeps memory bounded while an honest sender gets through', async (t) => {
  const { assembler, clock } = create({ maxSets: 1000, maxBytes: 500_000 });
  let whole = 0;
  for (let n = 0; n < 50_000; n += 1) {
    add(assembler, chunk(n.toString(36), 0, 128, 'x'.repeat(200)), `10.9.${n % 250}.1:${n % 60_000}`);
    if (n % 100 === 0) {
      add(assembler, chunk(`h${n}`, 0, 3, 'a'));
      add(assembler, chunk(`h${n}`, 1, 3, 'b'));
      if (add(assembler, chunk(`h${n}`, 2, 3, 'c')) === 'abc') whole += 1;
    }
    if (n % 1000 === 0) clock.time += 20;
  }
  t.equal(whole, 500);
  t.ok(assembler.counters.waitingSets <= 1000);
  t.ok(assembler.counters.waitingBytes <= 500_000);
  t.equal(assembler.expire().length, 1000, 'named up to the bound');
  clock.time += 10_000;
  assembler.expire();
  t.match(assembler.counters, { waitingSets: 0, waitingBytes: 0 });
  t.equal(assembler.counters.evicted + assembler.counters.expired, 50_000);
});

t.test('a set beyond the bytes of all sets is evicted itself', async (t) => {
  const { assembler } = create({ maxBytes: 2000 });
  add(assembler, chunk('a', 0, 3, 'x'.repeat(900)));
  add(assembler, chunk('a', 1, 3, 'x'.repeat(900)));
  t.match(assembler.counters, { evicted: 1, waitingSets: 0, waitingBytes: 0 });
});

t.test('whatever the order and the duplicates, each message comes once and whole', async (t) => {
  const messages = fc.array(
    fc.record({
      sender: fc.constantFrom('10.0.0.1:1', '10.0.0.2:1'),
      parts: fc.array(fc.string({ maxLength: 5 }), { minLength: 1, maxLength: 6 }),
    }),
    { minLength: 1, maxLength: 5 },
  );
  fc.assert(
    fc.property(messages, fc.array(fc.nat()), (sent, shuffle) => {
      const { assembler } = create();
      const datagrams = sent.flatMap(({ sender, parts }, id) =>
        parts.flatMap((part, number) => {
          const datagram = { sender, bytes: chunk(`m${id}`, number, parts.length, part) };
          return number % 2 === 0 ? [datagram, datagram] : [datagram];
        }),
      );
      shuffle.forEach((value, index) => {
        const [a, b] = [index % datagrams.length, value % datagrams.length];
        [datagrams[a], datagrams[b]] = [datagrams[b] as (typeof datagrams)[0], datagrams[a] as (typeof datagrams)[0]];
      });
      const got = datagrams
        .map(({ sender, bytes }) => add(assembler, bytes, sender))
        .filter((outcome) => outcome !== undefined);
      t.same(got.sort(), sent.map(({ parts }) => parts.join('')).sort());
      t.equal(assembler.counters.waitingBytes, 0);
    }),
    { seed: 20261121, numRuns: 200 },
  );
});

t.test('random datagrams are refused or kept, and never throw', async (t) => {
  const { assembler } = create({ maxSets: 10, maxBytes: 5000 });
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
      assembler.add(Buffer.concat([Buffer.from([0x1e, 0x0f]), bytes]), peer);
      return assembler.counters.waitingSets <= 10 && assembler.counters.waitingBytes <= 5000;
    }),
    { seed: 20261121, numRuns: 2000 },
  );
  t.ok(assembler.counters.chunks >= 2000);
});
