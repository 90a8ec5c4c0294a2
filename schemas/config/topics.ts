/** Settings of topics. The section of one kind, `topics.kafka`, stands in its own file in `topics/`. */
import { Type, type Static, type TObject } from 'typebox';
import { bytes, count, milliseconds, text } from './common.js';

const common = Type.Object({
  prefix: text('Begins the name of every topic.', 'sluice.'),
  partitions: count('Partitions of the topic logs when it is created.', 4, 1),
  max_message_bytes: bytes('Largest record of a topic.', 9 * 2 ** 20),
  retention_bytes: bytes(
    'Bytes kept of each partition at the most. Embedded: never deletes what a group has not consumed.',
    10 * 1e9,
  ),
  retention_ms: milliseconds('How long records are kept at the most.', 7 * 24 * 3_600_000),
  batch_bytes: bytes('An append is sent when this many bytes wait for one partition.', 1 * 2 ** 20),
  linger_ms: milliseconds('An append that somebody waits for (GELF HTTP) is sent at the latest after this time.', 5),
  unanswered_linger_ms: milliseconds(
    'The same where nobody is answered (GELF TCP and UDP). Larger: fewer, bigger appends.',
    25,
  ),
  max_waiting_bytes: bytes(
    'Received bytes that may wait for the topic; above it TCP is not read, UDP is shed, HTTP answers 429.',
    64 * 2 ** 20,
  ),
});

/** What the program reads whatever the kind. The kinds read their sections themselves. */
export interface TopicsOptions extends Static<typeof common> {
  readonly kind: string;
}

/** What a kind adds to the settings. */
export interface TopicsSection {
  /** The word in `topics.kind`, and the name of its section of the settings. */
  readonly kind: string;
  /** Where topics live then: `Apache Kafka`. */
  readonly title: string;
  /** Schema of its section, each setting with description and default. */
  readonly settings: TObject;
}

/** The first kind is the default. */
export function topicsOptions(kinds: readonly TopicsSection[]) {
  return Type.Unsafe<TopicsOptions>(
    Type.Object(
      {
        kind: Type.Union(
          kinds.map(({ kind }) => Type.Literal(kind)),
          {
            description: `Where topics live: ${kinds.map(({ title }) => title).join(', or ')}.`,
            default: kinds[0]?.kind,
          },
        ),
        ...common.properties,
        ...Object.fromEntries(kinds.map(({ kind, settings }) => [kind, settings])),
      },
      { additionalProperties: false, default: {}, description: 'Topics.' },
    ),
  );
}
