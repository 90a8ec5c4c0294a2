/** Outputs of the rule files: defaults filled in, settings that do not go together refused, streams named from both sides joined. */
import type { OutputSettings, RuleFileOutput } from '../../schemas/outputs.js';
import type { RuleFileSize, RuleFileStream } from '../../schemas/rule-files.js';
import type { Definition } from '../language/join.js';
import { parsePeriod, parseSize } from './index-sets.js';
import { didYouMean, shown, type Place } from '../problems.js';

/** The kernel's buffers of both sides hold about as much, and all of it is lost when the destination crashes. */
const defaultUnconfirmedBytes = 8 * 2 ** 20;
const leastUnconfirmedBytes = 64 * 2 ** 10;
const noPort = 1;

export function buildOutputs(
  definitions: readonly Definition<RuleFileOutput>[],
  streams: readonly Definition<RuleFileStream>[],
  streamIds: readonly string[],
): readonly OutputSettings[] {
  const ids = definitions.map(({ id }) => id);
  const byStream = new Map<string, string[]>();
  for (const { id, settings, placeOf } of streams) {
    for (const [at, output] of (settings.outputs ?? []).entries()) {
      if (!ids.includes(output))
        placeOf('outputs')
          .at(at)
          .report('There is no output of this id.', {
            got: shown(output),
            allowed: ids.join(', '),
            suggestion: didYouMean(output, ids),
          });
      byStream.set(output, [...(byStream.get(output) ?? []), id]);
    }
  }
  return definitions.map((definition) => buildOutput(definition, byStream.get(definition.id) ?? [], streamIds));
}

function buildOutput(
  { id, settings, place, placeOf }: Definition<RuleFileOutput>,
  named: readonly string[],
  streamIds: readonly string[],
): OutputSettings {
  for (const key of ['type', 'host', 'port'] as const) {
    if (settings[key] === undefined)
      place.report(`The key \`${key}\` is missing.`, { got: shown(id), allowed: 'type, host and port are needed' });
  }
  for (const [at, stream] of (settings.streams ?? []).entries()) {
    if (!streamIds.includes(stream))
      placeOf('streams')
        .at(at)
        .report('There is no stream of this id.', {
          got: shown(stream),
          allowed: streamIds.join(', '),
          suggestion: didYouMean(stream, streamIds),
          confidential: true,
        });
  }
  const type = settings.type ?? 'gelf';
  const protocol = settings.protocol ?? 'tcp';
  if (type === 'syslog' && protocol === 'http')
    placeOf('protocol').report('SYSLOG has no HTTP.', { got: 'http', allowed: 'tcp, udp' });
  checkHost(settings.host ?? '', placeOf('host'));
  checkKinds(settings, type, protocol, placeOf);
  return {
    id,
    type,
    protocol,
    title: settings.title ?? id,
    enabled: settings.enabled ?? true,
    host: settings.host ?? '',
    port: settings.port ?? noPort,
    streams: [...new Set([...(settings.streams ?? []), ...named])].sort(),
    tls: {
      enabled: settings.tls !== undefined,
      ca_file: '',
      cert_file: '',
      key_file: '',
      key_password: '',
      server_name: '',
      verify: true,
      ...settings.tls,
    },
    gelf: {
      compression: protocol === 'udp' ? 'gzip' : 'none',
      datagram_bytes: 1_420,
      over_long: 'truncate',
      path: '/gelf',
      token: '',
      messages_per_request: 1,
      ...settings.gelf,
    },
    syslog: {
      format: 'rfc5424',
      framing: 'octet_counting',
      facility: 'user',
      facility_field: 'facility',
      severity: 'notice',
      severity_field: 'level',
      host_field: 'source',
      application: 'sluice',
      application_field: 'container_name',
      process_id_field: '',
      message_id_field: '',
      message_field: 'message',
      structured_data: 'all',
      structured_data_id: 'gelf@32473',
      time_field: 'timestamp',
      max_bytes: 8_192,
      over_long: 'truncate',
      byte_order_mark: false,
      ...settings.syslog,
    },
    on_full: settings.on_full ?? 'hold',
    max_waiting_bytes: sizeAt(settings.max_waiting, placeOf('max_waiting'), 1),
    max_age_ms: periodAt(settings.max_age, placeOf('max_age')),
    connect_timeout_ms: settings.connect_timeout_ms ?? 5_000,
    write_timeout_ms: settings.write_timeout_ms ?? 30_000,
    hang_timeout_ms: settings.hang_timeout_ms ?? 600_000,
    idle_timeout_ms: settings.idle_timeout_ms ?? 0,
    confirm_after_ms: settings.confirm_after_ms ?? 1_000,
    unconfirmed_bytes:
      sizeAt(settings.unconfirmed_bytes, placeOf('unconfirmed_bytes'), leastUnconfirmedBytes) ??
      defaultUnconfirmedBytes,
    retry_most_ms: settings.retry_most_ms ?? 30_000,
  };
}

type PlaceOf = Definition<RuleFileOutput>['placeOf'];

/** Settings of another type or protocol would be taken and ignored. */
function checkKinds(settings: RuleFileOutput, type: string, protocol: string, placeOf: PlaceOf): void {
  const other = type === 'gelf' ? 'syslog' : 'gelf';
  if (settings[other] !== undefined)
    placeOf(other).report(`An output of type ${type} takes no \`${other}\`.`, { allowed: type });
  const misplaced = (section: 'gelf' | 'syslog', key: string, fits: string): void => {
    if ((settings[section] as Readonly<Record<string, unknown>> | undefined)?.[key] === undefined) return;
    placeOf(section).at(key).report(`Protocol ${protocol} takes no \`${key}\`.`, { allowed: fits });
  };
  if (protocol !== 'udp') for (const key of ['datagram_bytes', 'over_long']) misplaced('gelf', key, 'protocol: udp');
  if (protocol !== 'http')
    for (const key of ['path', 'token', 'messages_per_request']) misplaced('gelf', key, 'protocol: http');
  if (protocol !== 'tcp') misplaced('syslog', 'framing', 'protocol: tcp');
  const { gelf, syslog, tls } = settings;
  if (protocol === 'tcp' && gelf?.compression !== undefined && gelf.compression !== 'none')
    placeOf('gelf')
      .at('compression')
      .report('GELF over TCP cannot be compressed.', { got: gelf.compression, allowed: 'none' });
  if (protocol === 'http' && gelf?.compression === 'zlib')
    placeOf('gelf')
      .at('compression')
      .report('HTTP bodies are compressed with gzip.', { got: 'zlib', allowed: 'none, gzip' });
  if (gelf?.path !== undefined && !/^\/[!-~]*$/.test(gelf.path))
    placeOf('gelf')
      .at('path')
      .report('This is no path.', { got: shown(gelf.path), allowed: 'a slash and printable ASCII characters' });
  if (protocol === 'udp' && (syslog?.max_bytes ?? 0) > 65_507)
    placeOf('syslog')
      .at('max_bytes')
      .report('A datagram cannot be this long.', { got: shown(syslog?.max_bytes), allowed: 'at most 65507' });
  if (protocol === 'udp' && tls !== undefined)
    placeOf('tls').report('Protocol udp takes no `tls`.', { allowed: 'protocol: tcp or http' });
  if (tls !== undefined && ((tls.cert_file ?? '') !== '') !== ((tls.key_file ?? '') !== ''))
    placeOf('tls').report('A client certificate needs both `cert_file` and `key_file`.', { allowed: 'both, or none' });
}

function checkHost(host: string, place: Place): void {
  if (host === '' || /^[A-Za-z0-9_.:%-]+$/.test(host)) return;
  place.report('This is no host.', {
    got: shown(host),
    allowed: 'a host name or an IP address, without scheme and port; IPv6 without brackets',
  });
}

function sizeAt(value: RuleFileSize | undefined, place: Place, least: number): number | undefined {
  if (value === undefined) return undefined;
  const bytes = parseSize(value);
  if (bytes === undefined || bytes < least)
    place.report('This is no usable size.', {
      got: shown(value),
      allowed: `at least ${least} bytes; a number with B, kB, MB, GB, KiB, MiB or GiB`,
    });
  return bytes;
}

function periodAt(value: string | undefined, place: Place): number | undefined {
  if (value === undefined) return undefined;
  const period = parsePeriod(value);
  if (period === undefined)
    place.report('This is no duration.', { got: shown(value), allowed: 'ISO 8601, for example PT1H, P1D' });
  return period;
}
