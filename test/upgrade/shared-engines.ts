/** Settings with names of their own on the shared Kafka and OpenSearch, and their removal at the end of a test. */
import { randomBytes } from 'node:crypto';
import kafkajs from 'kafkajs';
import { createOpenSearchClient, type OpenSearchClient } from '../../core/opensearch-client.js';
import { kafkaBrokers, openSearchNode } from '../engines.js';

export interface SharedEngines {
  readonly settings: Readonly<Record<string, unknown>>;
  readonly prefix: string;
  readonly group: string;
  readonly stateIndex: string;
  readonly client: OpenSearchClient;
  readonly kafka: kafkajs.Kafka;
  /** Value of an entry of the state; undefined: none. */
  entry(key: string): Promise<unknown>;
  putEntry(key: string, value: object): Promise<void>;
  /** Concrete indices of these processes. */
  indices(): Promise<string[]>;
}

interface Teardown {
  teardown(action: () => Promise<void> | void): void;
}

export function createSharedEngines(t: Teardown): SharedEngines {
  const id = `upgrade-${randomBytes(5).toString('hex')}`;
  const [prefix, group, stateIndex] = [`${id}.`, `${id}-processors`, `${id}-state`];
  const brokers = kafkaBrokers()?.split(',') ?? [];
  const node = openSearchNode() ?? '';
  const client = createOpenSearchClient({ nodes: [node], requestTimeoutMs: 30_000 });
  const kafka = new kafkajs.Kafka({ brokers, logLevel: kafkajs.logLevel.NOTHING });
  const indices = async (): Promise<string[]> => {
    await client.request({ method: 'POST', path: `/${stateIndex}/_refresh` });
    const { body } = await client.request({
      method: 'POST',
      path: `/${stateIndex}/_search`,
      body: { size: 1_000, query: { prefix: { key: 'indices/' } } },
    });
    const { hits } = body as { hits?: { hits: readonly { readonly _id: string }[] } };
    return (hits?.hits ?? []).map(({ _id }) => _id.slice('indices/'.length));
  };
  t.teardown(async () => {
    for (const index of await indices()) await client.request({ method: 'DELETE', path: `/${index}` });
    await client.request({ method: 'DELETE', path: `/${stateIndex}` });
    await client.close();
    const admin = kafka.admin();
    await admin.connect();
    const topics = (await admin.listTopics()).filter((topic) => topic.startsWith(prefix));
    if (topics.length > 0) await admin.deleteTopics({ topics });
    await admin.deleteGroups([group]).catch(() => undefined);
    await admin.disconnect();
  });
  return {
    prefix,
    group,
    stateIndex,
    client,
    kafka,
    indices,
    settings: {
      receivers: [{ type: 'gelf_http', host: '127.0.0.1', port: 0 }],
      topics: { kind: 'kafka', prefix, partitions: 2, kafka: { brokers } },
      store: { kind: 'opensearch', opensearch: { nodes: [node], state_index: stateIndex } },
      processing: { group },
    },
    async entry(key) {
      const { status, body } = await client.request({
        method: 'GET',
        path: `/${stateIndex}/_doc/${encodeURIComponent(key)}`,
      });
      return status === 200 ? JSON.parse((body as { _source: { value: string } })._source.value) : undefined;
    },
    async putEntry(key, value) {
      const { status } = await client.request({
        method: 'PUT',
        path: `/${stateIndex}/_doc/${encodeURIComponent(key)}`,
        query: { refresh: true },
        body: { key, value: JSON.stringify(value) },
      });
      if (status >= 300) throw new Error(`${key}: ${status}`);
    },
  };
}
