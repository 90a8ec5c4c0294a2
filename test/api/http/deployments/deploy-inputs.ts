/** What a deployment makes first: an input, grok patterns and extractors. */
import type { Test } from 'tap';
import type { Deployer } from './deployer.js';

export async function deployInputs(t: Test, { send, listed, put, round }: Deployer): Promise<void> {
  const input = await put(
    '/api/system/inputs',
    'input-12202',
    {
      title: 'input-12202',
      type: 'org.graylog2.inputs.gelf.tcp.GELFTCPInput',
      global: true,
      node: null,
      configuration: {
        bind_address: '127.0.0.1',
        port: 0,
        recv_buffer_size: 1048576,
        use_null_delimiter: true,
        max_message_size: 2097152,
        decompress_size_limit: 8388608,
        tcp_keepalive: false,
        tls_enable: false,
        tls_cert_file: '',
        tls_key_file: '',
        tls_key_password: '',
        tls_client_auth: 'disabled',
        tls_client_auth_cert_file: '',
        number_worker_threads: 2,
        override_source: null,
      },
    },
    [201],
    [201],
    'inputs',
  );
  await send('GET', `/api/system/inputstates/${input}`, undefined, [200]);
  for (const name of ['LOGHEADING', 'LEVELWORD'])
    if (round === 'first')
      await send(
        'POST',
        '/api/system/grok',
        { name, pattern: name === 'LEVELWORD' ? '(?>TRACE|DEBUG|INFO|WARN|ERROR)' : '\\[%{TIMESTAMP_ISO8601}\\]' },
        [201],
      );
  t.ok((await listed('/api/system/grok', 'patterns')).length >= 2);
  const extractor = { cut_or_copy: 'copy', converters: {}, condition_type: 'none', condition_value: '', order: 0 };
  const base = `/api/system/inputs/${input}/extractors`;
  await put(
    base,
    'docker',
    {
      ...extractor,
      title: 'docker',
      source_field: 'docker',
      target_field: '',
      extractor_type: 'json',
      extractor_config: {
        flatten: false,
        list_separator: ', ',
        kv_separator: '=',
        key_prefix: '',
        key_separator: '-',
        replace_key_whitespace: false,
        key_whitespace_replacement: '_',
      },
    },
    [201],
    [200],
    'extractors',
  );
  await put(
    base,
    'level',
    {
      ...extractor,
      title: 'level',
      source_field: 'message',
      target_field: '',
      extractor_type: 'grok',
      extractor_config: { grok_pattern: '^%{LOGHEADING}\\[%{LEVELWORD:loglevel_name}\\]', named_captures_only: true },
    },
    [201],
    [200],
    'extractors',
  );
  const time = await put(
    base,
    'time',
    {
      ...extractor,
      title: 'time',
      source_field: 'event_time',
      target_field: 'timestamp',
      extractor_type: 'substring',
      extractor_config: { begin_index: 0, end_index: 23 },
      converters: { date: { date_format: "yyyy-MM-dd'T'HH:mm:ss,SSS", time_zone: 'UTC', locale: 'en' } },
    },
    [201],
    [200],
    'extractors',
  );
  await send('GET', `${base}/${time}`, undefined, [200]);
  if (round === 'second') await send('DELETE', `${base}/${time}`, undefined, [204]);
}
