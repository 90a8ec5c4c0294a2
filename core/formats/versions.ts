/**
 * Every format that outlives a process or is shared between processes, with its versions: the one place that says them
 * all. `docs/upgrading.md` lists them, generated from here; `core/formats/` judges what is found and brings it up to
 * date.
 *
 * To change a format add a version at the end of its list. `minimumReader` is the lowest version that a program must
 * know to read what is written from then on. A shared format may raise it only in the release after the one that first
 * reads the new version: then the programs of two neighbouring releases can always run side by side.
 */
import { last } from '../at.js';

interface VersionStep {
  readonly version: number;
  readonly minimumReader: number;
  /** The release that wrote it first. */
  readonly since: string;
  readonly what: string;
}

export interface FormatVersion {
  readonly name: string;
  /** Where its version stands. */
  readonly where: string;
  /** Read and written by several processes at the same time, maybe of different releases. */
  readonly shared: boolean;
  /**
   * The oldest version that is still read; 0: data without any version, as programs before 0.1.0's first version stamp
   * wrote it.
   */
  readonly oldest: number;
  /** Ascending without gaps; the last one is written. */
  readonly versions: readonly VersionStep[];
  /** What becomes of data without a version or of an older one. */
  readonly older: string;
  /** What becomes of a newer one that needs a newer reader. */
  readonly newer: string;
}

const refusedAtStart = 'refused at the start: exit code 2';

export const formatVersions = {
  dataFolder: {
    name: 'data folder',
    where: '`<data_folder>/version.json`',
    shared: false,
    oldest: 0,
    versions: [
      {
        version: 1,
        minimumReader: 1,
        since: '0.1.0',
        what: 'a version stamp; committed offsets are compacted and begin with their version',
      },
    ],
    older: 'migrated at the start, step by step; a step that was cut short runs again',
    newer: refusedAtStart,
  },
  topicFile: {
    name: 'embedded topic',
    where: '`format_version` in `<data_folder>/topics/<topic>/topic.json`',
    shared: false,
    oldest: 1,
    versions: [{ version: 1, minimumReader: 1, since: '0.1.0', what: 'the first' }],
    older: 'none exists',
    newer: refusedAtStart,
  },
  topicFrame: {
    name: 'records of an embedded topic',
    where: 'byte 8 of each frame of a segment',
    shared: false,
    oldest: 1,
    versions: [{ version: 1, minimumReader: 1, since: '0.1.0', what: 'the first' }],
    older: 'none exists',
    newer: `${refusedAtStart}; never taken for a torn end and cut off`,
  },
  groupOffsets: {
    name: 'embedded committed offsets',
    where: 'first line of `<data_folder>/groups/<group>.offsets`',
    shared: false,
    oldest: 0,
    versions: [{ version: 1, minimumReader: 1, since: '0.1.0', what: 'a first line with the version' }],
    older: 'read as it is, rewritten with the data folder',
    newer: refusedAtStart,
  },
  indexFile: {
    name: 'embedded index',
    where: 'row `format` of table `meta` in `<data_folder>/indices/<index>.duckdb`',
    shared: false,
    oldest: 0,
    versions: [{ version: 1, minimumReader: 1, since: '0.1.0', what: 'the first' }],
    older: 'migrated in one transaction when it is opened',
    newer:
      'refused at the start when it is one that is written to; any other one is left out of searches, which say so',
  },
  stateFolder: {
    name: 'embedded state',
    where: 'key `meta:format` of the LevelDB in `<data_folder>/state`',
    shared: false,
    oldest: 0,
    versions: [{ version: 1, minimumReader: 1, since: '0.1.0', what: 'a version stamp' }],
    older: 'stamped at the start',
    newer: refusedAtStart,
  },
  stateIndex: {
    name: 'state index',
    where: '`_meta.sluice` in the mapping of the OpenSearch index `store.opensearch.state_index`',
    shared: true,
    oldest: 0,
    versions: [{ version: 1, minimumReader: 1, since: '0.1.0', what: 'a version stamp' }],
    older: 'stamped at the start',
    newer: refusedAtStart,
  },
  protocol: {
    name: 'delivery records (epochs, partition records, marks)',
    where: 'entry `protocol/version` of the state, both engines; `format` in a record above version 1',
    shared: true,
    oldest: 0,
    versions: [{ version: 1, minimumReader: 1, since: '0.1.0', what: 'a version stamp' }],
    older: 'stamped at the start',
    newer: `${refusedAtStart}; a program that runs when the stamp is raised stops with exit code 2, and reads no record that it does not understand`,
  },
  ruleLanguage: {
    name: 'kept rule sets',
    where: '`format` beside the files of a kept rule set in the state; missing in version 1',
    shared: true,
    oldest: 1,
    versions: [
      {
        version: 1,
        minimumReader: 1,
        since: '0.1.0',
        what: 'the first; a change of decoding that rules can see is a new version too',
      },
    ],
    older:
      'compiled as it is; a rule that is no longer understood holds its messages with `PIPELINE_RULES_NOT_UNDERSTOOD` until a program that knows it has worked them off',
    newer: 'the same: messages of that rule set are held, none is lost',
  },
  objects: {
    name: 'objects made through the API',
    where: '`format` in an entry `objects/...` of the state; missing in version 1',
    shared: true,
    oldest: 1,
    versions: [{ version: 1, minimumReader: 1, since: '0.1.0', what: 'the first' }],
    older: 'none exists',
    newer: `${refusedAtStart}; a program that runs goes on with the objects that it has read before, and says so in the log`,
  },
  searchIndex: {
    name: 'OpenSearch index',
    where: '`_meta.sluice` in the mapping of each index',
    shared: true,
    oldest: 0,
    versions: [{ version: 1, minimumReader: 1, since: '0.1.0', what: 'a version stamp' }],
    older:
      'written to as it is; indices are short-lived, the next one has the newest version. An index that exists is never given another mapping',
    newer:
      'refused at the start when it is one that is written to; a program that meets it later stops with exit code 2',
  },
  commitMetadata: {
    name: 'metadata of commits',
    where: 'first word of the metadata that the consumer group commits, both engines',
    shared: true,
    oldest: 1,
    versions: [{ version: 1, minimumReader: 1, since: '0.1.0', what: 'the first' }],
    older: "none exists; a commit without metadata, as Kafka's own tools make, knows no sequences",
    newer: 'refused when the partition is assigned: exit code 2; never read as if no message had been seen',
  },
  parkedRecord: {
    name: 'records of a parking topic',
    where: '`format` in the line of JSON before the message; missing in version 1',
    shared: true,
    oldest: 1,
    versions: [{ version: 1, minimumReader: 1, since: '0.1.0', what: 'the first' }],
    older: 'none exists',
    newer: 'not taken for a foreign record: the parking topic is held',
  },
  topicRecord: {
    name: 'records of a Kafka topic',
    where: 'name of the header: `origin`, from version 2 on `origin.<version>`',
    shared: true,
    oldest: 1,
    versions: [{ version: 1, minimumReader: 1, since: '0.1.0', what: 'the first' }],
    older: "none exists; a record without the header is a foreign producer's",
    newer: 'refused when it is read: exit code 2, nothing is committed',
  },
} as const satisfies Readonly<Record<string, FormatVersion>>;

/** What this program writes. */
export function currentVersion(format: FormatVersion): number {
  return last(format.versions).version;
}
