/** All settings: `sluice.yaml` with `SLUICE_*` over it. */
import { Type, type Static } from 'typebox';
import type { ReceiverDescription } from '../receiver-kinds.js';
import type { TopicLogDescription } from '../topic-log-kinds.js';
import { accessOptions } from './access.js';
import { apiOptions } from './api.js';
import { flag, port, text } from './common.js';
import { processingOptions, storeOptions, watchesRules } from './engines.js';
import type { ReceiverOptions } from './receivers.js';
import { searchOptions } from './search.js';
import { topicsOptions } from './topics.js';

/** Kinds of parts that bring their own settings along. The program hands in what its registries list. */
export interface SettingKinds {
  readonly receivers: readonly ReceiverDescription[];
  readonly topicLogs: readonly TopicLogDescription[];
}

const processSettings = {
  data_folder: text('Where topics, indices and state are kept; relative to the settings file.', './data'),
  log_level: Type.Union(
    [
      Type.Literal('trace'),
      Type.Literal('debug'),
      Type.Literal('info'),
      Type.Literal('warn'),
      Type.Literal('error'),
      Type.Literal('silent'),
    ],
    { description: 'Least severe log line written.', default: 'info' },
  ),
  admin: Type.Object(
    {
      enabled: flag('Serve /metrics and /health.', true),
      host: text('Address to listen on.', '127.0.0.1'),
      port: port('Port to listen on; 0 takes a free one.', 9833),
    },
    { additionalProperties: false, default: {}, description: 'Metrics and health.' },
  ),
  api: apiOptions,
  workers: Type.Union([Type.Integer({ minimum: 1, maximum: 64 }), Type.String({ pattern: '^auto$' })], {
    description:
      'Processes of this program on one machine that share its ports and divide its work; auto: one per core. More than 1 needs topics on Kafka, and a store on OpenSearch.',
    default: 1,
  }),
};

const rulesOptions = Type.Object(
  {
    folder: text('Folder of rule files; relative to the settings file. A missing one is empty.', './sluice.d'),
    watch: watchesRules,
  },
  { additionalProperties: false, default: {}, description: 'Rules, streams and index sets.' },
);

function receiversOptions(kinds: readonly ReceiverDescription[]) {
  const one = Type.Union(
    kinds.map(({ settings }) => settings),
    { description: 'One receiver.', discriminator: { propertyName: 'type' } },
  );
  return Type.Unsafe<readonly ReceiverOptions[]>(
    Type.Array(one, {
      description: 'Where messages come in.',
      default: kinds.filter(({ byDefault }) => byDefault).map(({ type }) => ({ type })),
    }),
  );
}

/** The schema of all settings, with those of the given kinds in it. */
export function configSchemaOf(kinds: SettingKinds) {
  return Type.Object(
    {
      ...processSettings,
      receivers: receiversOptions(kinds.receivers),
      topics: topicsOptions(kinds.topicLogs),
      store: storeOptions,
      processing: processingOptions,
      search: searchOptions,
      access: accessOptions,
      rules: rulesOptions,
    },
    { additionalProperties: false, default: {}, description: 'Settings of Sluice.' },
  );
}

export type Config = Static<ReturnType<typeof configSchemaOf>>;
