/** Settings of the interface for people and scripts. */
import { Type, type Static } from 'typebox';
import { bytes, count, flag, milliseconds, port, serverTls, text } from './common.js';

export const apiOptions = Type.Object(
  {
    enabled: flag('Serve the API, in processes that have the store: role all, processor or api.', true),
    host: text(
      'Address to listen on. Beyond loopback only with tls.enabled or behind_proxy: passwords travel in requests.',
      '127.0.0.1',
    ),
    port: port('Port to listen on; 0 takes a free one.', 9000),
    behind_proxy: flag(
      'A reverse proxy that serves TLS stands before the API: plain HTTP on other addresses is allowed, and the address of the client is read from X-Forwarded-For.',
      false,
    ),
    trusted_proxies: Type.Array(Type.String(), {
      description:
        'With behind_proxy: whose X-Forwarded-For is believed; addresses, networks (10.0.0.0/8), or loopback, linklocal, uniquelocal.',
      default: ['loopback', 'linklocal', 'uniquelocal'],
    }),
    tls: serverTls,
    max_body_bytes: bytes('Largest request body; larger: 413.', 4 * 2 ** 20),
    max_connections: count('Connections at the same time; further ones are closed.', 1_000, 1),
    request_timeout_ms: milliseconds('A request must have come in whole within this time.', 30_000),
    views_folder: text(
      'Folder of *search.json and *view.json files that are created after the start; relative to the settings file. A missing one is empty.',
      './sluice.d/views',
    ),
    shipped_views: flag('Create the searches and views that ship, after the first start.', true),
    max_searches: count(
      'Searches that are kept. Beyond it, the oldest ones that no view refers to are removed.',
      10_000,
      10,
    ),
    max_views: count('Views that may be kept; more are refused.', 10_000, 1),
    max_tails: count('Live tails at the same time; more are refused.', 50, 1),
    max_exports: count('CSV exports at the same time; more are refused.', 8, 1),
    audit: Type.Object(
      {
        enabled: flag('Send access lines and audit records into the stream Audit logs.', true),
        container: text(
          'Value of the field container of these messages; the rule own-containers knows sluice.',
          'sluice',
        ),
        max_waiting: count(
          'Records that may wait for the pipeline; more are written to the log and counted as lost.',
          10_000,
          10,
        ),
      },
      { additionalProperties: false, default: {}, description: 'Audit records.' },
    ),
  },
  { additionalProperties: false, default: {}, description: 'The HTTP API.' },
);

export type ApiOptions = Static<typeof apiOptions>;
