/** Settings of the index store, and of what fills it. */
import { Type, type Static } from 'typebox';
import { bytes, clientTls, count, flag, milliseconds, secret, text } from './common.js';

export const storeOptions = Type.Object(
  {
    kind: Type.Union([Type.Literal('embedded'), Type.Literal('opensearch')], {
      description: 'Where index sets live: DuckDB files in the data folder, or OpenSearch.',
      default: 'embedded',
    }),
    embedded: Type.Object(
      {
        memory_bytes: Type.Integer({
          description:
            'Memory limit of the embedded store; how many threads and writes it has at once depends on it. In bytes.',
          default: 1536 * 2 ** 20,
          minimum: 256 * 2 ** 20,
        }),
        threads: count(
          'Threads of the embedded store; 0: one less than there are cores, since whoever asks works too. No more than its memory has room for.',
          0,
        ),
        checkpoint_bytes: bytes('The write-ahead log is folded into the database file at this size.', 256 * 2 ** 20),
        linger_ms: milliseconds(
          'How long a small write waits at most for those of the other partitions that wrote lately, so that one transaction takes all of them; 0: not at all.',
          250,
        ),
        kept_bytes: bytes(
          'Memory for what searches leave for those that come next: rows that match a condition, and counts by time.',
          64 * 2 ** 20,
        ),
        index_words: flag(
          'Whether the words of message and full_message get an index, so that searches for them look up where they are and not through every text. It is about a third of an index and costs 12 microseconds of a processor for each message.',
          true,
        ),
        reserve_bytes: bytes('Free disk space that is never used: writes are refused before.', 256 * 2 ** 20),
        max_total_bytes: Type.Union([Type.Integer({ minimum: 1 }), Type.Null()], {
          description: 'All indices together; null: half of the disk that was free at the first start.',
          default: null,
        }),
      },
      { additionalProperties: false, default: {}, description: 'DuckDB.' },
    ),
    opensearch: Type.Object(
      {
        nodes: Type.Array(Type.String(), {
          description: 'Addresses, http(s)://host:port.',
          default: ['http://127.0.0.1:9200'],
        }),
        username: text('User name.', ''),
        password: secret('Password.'),
        request_timeout_ms: milliseconds('A request without an answer is repeated after this time.', 30_000),
        bulk_bytes: bytes('Largest bulk request.', 5 * 2 ** 20),
        bulks_in_flight: count(
          'Bulk requests of this process at the same time. One machine: 2, so that one is made while another is indexed; larger clusters take more.',
          2,
          1,
        ),
        state_index: text('Index that keeps epochs, partition records and what users create.', 'sluice-state'),
        tls: clientTls,
      },
      { additionalProperties: false, default: {}, description: 'OpenSearch.' },
    ),
    max_fields: count('Fields of one index; what comes after goes to other_fields.', 900, 10),
  },
  { additionalProperties: false, default: {}, description: 'The index store.' },
);

export const processingOptions = Type.Object(
  {
    group: text('Consumer group of the processors.', 'sluice-processors'),
    batch_bytes: bytes('Largest batch read from a topic at once.', 4 * 2 ** 20),
    batch_records: count('Most records read from a topic at once.', 5_000, 1),
    concurrency: count('Partitions processed at the same time.', 4, 1),
    rotation_check_ms: milliseconds('How often the sizes of indices are checked.', 3_000),
    retention_check_ms: milliseconds('How often retention runs.', 30_000),
    park_after_ms: milliseconds(
      'An index that takes no writes for this long is parked: what is bound for its set waits in a parking topic, and the other sets go on.',
      30_000,
    ),
    wait_for_more_ms: milliseconds(
      'How long a batch smaller than the bound waits to fill up. Larger: fewer, bigger writes; later to be searchable.',
      500,
    ),
  },
  { additionalProperties: false, default: {}, description: 'From topics to index sets.' },
);

export const watchesRules = flag('Load rule files again when they change.', true);

export type ClientTls = Static<typeof clientTls>;
