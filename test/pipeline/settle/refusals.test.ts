/**
 * A document that the store refuses for good: a tombstone keeps its id in the index, the message becomes one dead
 * letter, the others are stored.
 */
import { randomBytes } from 'node:crypto';
import t from 'tap';
import { createOpenSearchClient } from '../../../core/opensearch-client.js';
import type { SearchResult } from '../../../schemas/query.js';
import { openSearchNode, skipWithoutOpenSearch } from '../../engines.js';
import { startProgram, until } from '../../program.js';

t.test(
  'a refused document becomes a dead letter, once, and does not hold the others',
  { ...skipWithoutOpenSearch(), timeout: 120_000 },
  async (t) => {
    const node = openSearchNode() as string;
    const name = `refusals-${randomBytes(4).toString('hex')}`;
    const client = createOpenSearchClient({ nodes: [node], requestTimeoutMs: 20_000 });
    t.teardown(() => client.close());
    const program = await startProgram(t, {
      settings: { store: { kind: 'opensearch', opensearch: { nodes: [node], state_index: name } } },
    });
    const { epoch } = await program.status();
    t.teardown(async () => {
      for (const index of [...Object.values(epoch.indices), name])
        await client.request({ method: 'DELETE', path: `/${index}` });
      await client.request({ method: 'DELETE', path: `/_ingest/pipeline/${name}` });
    });
    const index = epoch.indices['sluice_default'] as string;
    const processors = [
      { fail: { if: 'ctx.message != null && ctx.message.contains("poison")', message: 'this index takes no poison' } },
    ];
    await client.request({ method: 'PUT', path: `/_ingest/pipeline/${name}`, body: { processors } });
    await client.request({ method: 'PUT', path: `/${index}/_settings`, body: { 'index.default_pipeline': name } });

    const messages = ['first good', 'some poison', 'second good']
      .map((text) => JSON.stringify({ host: name, short_message: text }))
      .join('\n');
    t.equal(
      (await fetch(`http://127.0.0.1:${program.port('gelf-http')}/gelf`, { method: 'POST', body: messages })).status,
      202,
    );

    const search = async (query: string, sets?: readonly string[]) => {
      await program.control.request('POST', '/refresh', {});
      return (await program.control.request('POST', '/search', { query, index_sets: sets })) as SearchResult;
    };
    const deadLetters = await until(
      async () => {
        for (const set of Object.values(epoch.indices))
          await client.request({ method: 'POST', path: `/${set}/_refresh` });
        const found = await search('code:*', ['sluice_dead_letters']);
        const own = found.hits.filter(({ _index }) => _index === epoch.indices['sluice_dead_letters']);
        return own.length > 0 ? own : undefined;
      },
      90_000,
      () => program.output(),
    );
    t.equal(deadLetters.length, 1);
    const deadLetter = deadLetters[0];
    t.match(deadLetter?._id, /^[0-9a-f]{20}-[0-9a-f]{4}-[0-9a-f]{10}@sluice_default$/);
    t.match(deadLetter?.document, {
      index_set: 'sluice_default',
      index,
      message: /poison/,
      raw: JSON.stringify({ host: name, short_message: 'some poison' }),
    });
    const stored = await search(`source:${name}`);
    t.same(
      stored.hits.map(({ document }) => document['message']).sort(),
      ['first good', 'second good'],
      'the tombstone is not found',
    );
    const messageId = deadLetter?._id.split('@')[0] as string;
    const tombstone = await client.request({ method: 'GET', path: `/${index}/_doc/${messageId}` });
    t.match(tombstone, { status: 200, body: { found: true } }, 'a late copy of the message meets the tombstone');
  },
);
