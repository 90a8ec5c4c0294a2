/** All settings: `sluice.yaml` with `SLUICE_*` over it. */
import { Type, type Static } from 'typebox';
import { accessOptions } from './access.js';
import { apiOptions } from './api.js';
import { flag, port, text } from './common.js';
import { processingOptions, storeOptions, topicsOptions, watchesRules } from './engines.js';
import { receiverOptions } from './receivers.js';
import { searchOptions } from './search.js';

export const configSchema = Type.Object(
  {
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
    receivers: Type.Array(receiverOptions, {
      description: 'Where messages come in.',
      default: [{ type: 'gelf_tcp' }, { type: 'gelf_udp' }, { type: 'gelf_http' }],
    }),
    topics: topicsOptions,
    store: storeOptions,
    processing: processingOptions,
    search: searchOptions,
    access: accessOptions,
    rules: Type.Object(
      {
        folder: text('Folder of rule files; relative to the settings file. A missing one is empty.', './sluice.d'),
        watch: watchesRules,
      },
      { additionalProperties: false, default: {}, description: 'Rules, streams and index sets.' },
    ),
  },
  { additionalProperties: false, default: {}, description: 'Settings of Sluice.' },
);

export type Config = Static<typeof configSchema>;
