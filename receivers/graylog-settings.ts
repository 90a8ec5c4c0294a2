/** Settings that Graylog inputs of every kind have; a kind adds those whose meaning is its own. */
import { ownMember } from '../core/own-member.js';
import type { GraylogSettings } from '../schemas/receiver-kinds.js';

const clientAuth: Readonly<Record<string, string>> = { disabled: 'none', optional: 'optional', required: 'required' };

export const graylogSettings: GraylogSettings = {
  bind_address: 'host',
  max_message_size: 'max_frame_bytes',
  decompress_size_limit: 'max_inflated_bytes',
  max_chunk_size: 'max_body_bytes',
  enable_cors: 'cors',
  tls_enable: 'tls.enabled',
  tls_cert_file: 'tls.cert_file',
  tls_key_file: 'tls.key_file',
  tls_key_password: 'tls.key_password',
  tls_client_auth_cert_file: 'tls.ca_file',
  tls_client_auth: (value) => ({
    name: 'tls.client_auth',
    value: (typeof value === 'string' ? ownMember(clientAuth, value) : undefined) ?? value,
  }),
  number_worker_threads: undefined,
  charset_name: undefined,
  override_source: undefined,
  enable_bulk_receiving: undefined,
  recv_buffer_size: undefined,
  use_null_delimiter: undefined,
  tcp_keepalive: undefined,
};
