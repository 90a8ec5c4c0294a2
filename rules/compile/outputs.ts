/**
 * Outputs of the rule files: defaults filled in, settings that do not go together refused, streams named from both
 * sides joined.
 */
import type { OutputFormat, OutputProtocol } from '../../schemas/outputs/format.js';
import { outputFormats } from '../../schemas/outputs/formats.js';
import type { OutputSections, OutputSettings, RuleFileOutput } from '../../schemas/outputs/output.js';
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
  const format = outputFormats.find((candidate) => candidate.type === type);
  if (format !== undefined && !format.protocols.includes(protocol))
    placeOf('protocol').report(`${format.title} has no ${protocol.toUpperCase()}.`, {
      got: protocol,
      allowed: format.protocols.join(', '),
    });
  checkHost(settings.host ?? '', placeOf('host'));
  checkSections(settings, type, protocol, placeOf);
  checkTls(settings, protocol, placeOf);
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
    ...sectionsOf(settings, protocol),
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

/** The section of each format, with the defaults filled in. */
function sectionsOf(settings: RuleFileOutput, protocol: OutputProtocol): OutputSections {
  return Object.fromEntries(
    outputFormats.map((format) => [format.type, { ...format.defaults(protocol), ...settings[format.type] }]),
  ) as OutputSections;
}

/** Settings of another type or protocol would be taken and ignored. */
function checkSections(settings: RuleFileOutput, type: string, protocol: OutputProtocol, placeOf: PlaceOf): void {
  for (const format of outputFormats) {
    if (format.type !== type && settings[format.type] !== undefined)
      placeOf(format.type).report(`An output of type ${type} takes no \`${format.type}\`.`, { allowed: type });
  }
  for (const format of outputFormats) checkSection(format, settings[format.type], protocol, placeOf(format.type));
}

function checkSection(
  { only, check }: OutputFormat,
  given: object | undefined,
  protocol: OutputProtocol,
  place: Place,
): void {
  if (given === undefined) return;
  for (const [fitting, keys] of Object.entries(only)) {
    for (const key of fitting === protocol ? [] : keys)
      if (Object.hasOwn(given, key))
        place.at(key).report(`Protocol ${protocol} takes no \`${key}\`.`, { allowed: `protocol: ${fitting}` });
  }
  for (const { key, reason, got, allowed } of check(given, protocol))
    place.at(key).report(reason, { got: got ?? shown(Reflect.get(given, key)), allowed });
}

function checkTls({ tls }: RuleFileOutput, protocol: OutputProtocol, placeOf: PlaceOf): void {
  if (tls === undefined) return;
  if (protocol === 'udp') placeOf('tls').report('Protocol udp takes no `tls`.', { allowed: 'protocol: tcp or http' });
  if (((tls.cert_file ?? '') !== '') !== ((tls.key_file ?? '') !== ''))
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
