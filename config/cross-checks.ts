/** What single settings cannot tell: settings that do not go together. */
import type { Config, SettingKinds } from '../schemas/config/config.js';
import type { ReceiverOptions } from '../schemas/config/receivers.js';
import { messageLimitOf, type ReceiverDescription } from '../schemas/receiver-kinds.js';
import { topicLogKind, type TopicLogDescription } from '../schemas/topic-log-kinds.js';
import type { PlaceOf } from './check.js';
import { settingName, type ConfigProblem, type SettingPath } from './problem.js';

export interface CrossChecks {
  readonly problems: ConfigProblem[];
  /** Settings that work but are probably not meant. */
  readonly warnings: string[];
}

type Report = (path: SettingPath, got: string, allowed: string) => void;

export function crossCheck(config: Config, place: PlaceOf, kinds: SettingKinds): CrossChecks {
  const problems: ConfigProblem[] = [];
  const warnings: string[] = [];
  const report: Report = (path, got, allowed) =>
    problems.push({
      code: 'CONFIG_CONFLICT',
      place: place(path, false),
      setting: settingName(path),
      got,
      allowed,
      didYouMean: undefined,
    });
  checkListeners(config, kinds, report);
  checkReceivers(config, kinds.receivers, report, warnings);
  checkWorkers(config, kinds.topicLogs, report);
  if (config.api.enabled) checkApi(config, report);
  if (config.access.ldap.enabled) checkDirectory(config, report, warnings);
  checkTopics(config, kinds.topicLogs, report);
  if (config.store.kind === 'opensearch') checkOpenSearch(config, report);
  if (config.receivers.length === 0) warnings.push('receivers is empty: nothing will come in.');
  return { problems, warnings };
}

/** The filters themselves are read when the directory is set up. */
function checkDirectory({ access: { ldap } }: Config, report: Report, warnings: string[]): void {
  const path = ['access', 'ldap'] as const;
  if (ldap.urls.length === 0)
    report(
      [...path, 'urls'],
      'an empty list, with enabled: true',
      'at least one ldap://host:port or ldaps://host:port',
    );
  if (ldap.search_base === '')
    report(
      [...path, 'search_base'],
      'nothing, with enabled: true',
      'the distinguished name below which users are searched',
    );
  if (!ldap.search_filter.includes('{user}'))
    report([...path, 'search_filter'], JSON.stringify(ldap.search_filter), 'a filter with {user}, the name as typed');
  if (ldap.bind_dn !== '' && ldap.bind_password === '')
    report([...path, 'bind_password'], 'nothing, with bind_dn', 'its password: without one the bind is anonymous');
  if (!ldap.start_tls && ldap.urls.some((url) => /^ldap:\/\/(?!127\.|localhost[:/]?)/.test(url)))
    warnings.push('access.ldap.urls has an ldap:// server without start_tls: passwords travel in plain text.');
  if (ldap.role_mapping.length === 0 && ldap.default_roles.length === 0)
    warnings.push('access.ldap has neither role_mapping nor default_roles: nobody of the directory can log in.');
}

interface Listener {
  readonly path: SettingPath;
  readonly protocol: 'tcp' | 'udp';
  readonly host: string;
  readonly port: number;
  readonly title: string;
}

function checkListeners(config: Config, kinds: SettingKinds, report: Report): void {
  const listeners = listenersOf(config, kinds);
  listeners.forEach((one, at) => {
    const conflict = conflictOf(one, listeners.slice(0, at));
    if (conflict !== undefined) report(one.path, conflict.got, conflict.allowed);
  });
}

export interface PortConflict {
  readonly got: string;
  readonly allowed: string;
}

/** What the settings file lets listen where a receiver of the API would: it comes first. */
export function portConflict(receiver: ReceiverOptions, config: Config, kinds: SettingKinds): PortConflict | undefined {
  return conflictOf(listenerOf(receiver, config.receivers.length, kinds), listenersOf(config, kinds));
}

function conflictOf(one: Listener, others: readonly Listener[]): PortConflict | undefined {
  const other = others.find(
    (before) =>
      one.port !== 0 && before.port === one.port && before.protocol === one.protocol && overlap(before.host, one.host),
  );
  return other === undefined
    ? undefined
    : {
        got: `${one.protocol.toUpperCase()} port ${one.port}, which ${other.title} has taken`,
        allowed: 'another port, or 0 for a free one',
      };
}

function listenersOf(config: Config, kinds: SettingKinds): readonly Listener[] {
  const { admin, api, receivers } = config;
  return [
    ...receivers.map((receiver, at) => listenerOf(receiver, at, kinds)),
    ...(admin.enabled
      ? [{ path: ['admin', 'port'], protocol: 'tcp', host: admin.host, port: admin.port, title: 'admin' } as const]
      : []),
    ...(api.enabled
      ? [{ path: ['api', 'port'], protocol: 'tcp', host: api.host, port: api.port, title: 'api' } as const]
      : []),
  ];
}

function listenerOf({ type, host, port, name }: ReceiverOptions, at: number, kinds: SettingKinds): Listener {
  return {
    path: ['receivers', at, 'port'],
    protocol: kinds.receivers.find((kind) => kind.type === type)?.transport ?? 'tcp',
    host,
    port,
    title: `receiver ${name}`,
  };
}

function overlap(one: string, other: string): boolean {
  const isAny = (host: string): boolean => ['0.0.0.0', '::', ''].includes(host);
  const isLoopback = (host: string): boolean => ['127.0.0.1', '::1'].includes(host);
  const [first, second] = [one.toLowerCase(), other.toLowerCase()];
  return (
    first === second ||
    isAny(first) ||
    isAny(second) ||
    (first === 'localhost' && isLoopback(second)) ||
    (second === 'localhost' && isLoopback(first))
  );
}

function checkReceivers(
  config: Config,
  kinds: readonly ReceiverDescription[],
  report: Report,
  warnings: string[],
): void {
  const names = new Set<string>();
  config.receivers.forEach((receiver, at) => {
    const path = ['receivers', at] as const;
    if (names.has(receiver.name))
      report([...path, 'name'], `the name ${receiver.name} a second time`, 'a name of its own for each receiver');
    names.add(receiver.name);
    const kind = kinds.find(({ type }) => type === receiver.type);
    const largest = kind === undefined ? 0 : messageLimitOf(kind, receiver);
    if (kind !== undefined && largest >= config.topics.max_message_bytes)
      report(
        [...path, kind.messageLimit],
        `${largest} bytes, which is not below topics.max_message_bytes (${config.topics.max_message_bytes})`,
        'a smaller limit, or a larger topics.max_message_bytes',
      );
    for (const warning of kind?.warnings(receiver) ?? []) warnings.push(`receivers[${at}].${warning}`);
    const { tls } = receiver;
    if (tls === undefined) return;
    for (const file of ['cert_file', 'key_file'] as const) {
      if (tls.enabled && tls[file] === '')
        report([...path, 'tls', file], 'nothing, with tls.enabled: true', 'a PEM file, or tls.enabled: false');
    }
    if (tls.enabled && tls.client_auth !== 'none' && tls.ca_file === '')
      report(
        [...path, 'tls', 'ca_file'],
        `nothing, with client_auth: ${tls.client_auth}`,
        'a PEM file with the authorities of client certificates',
      );
    if (!tls.enabled && tls.cert_file !== '')
      warnings.push(`receivers[${at}].tls has a certificate but enabled is false: it serves plain text.`);
  });
}

/** Passwords travel in its requests. */
function checkApi({ api }: Config, report: Report): void {
  const loopback = /^(?:localhost|127\.\d+\.\d+\.\d+|::1)$/i.test(api.host);
  if (!loopback && !api.tls.enabled && !api.behind_proxy)
    report(
      ['api', 'host'],
      `${JSON.stringify(api.host)} without TLS`,
      '127.0.0.1, or api.tls.enabled: true, or api.behind_proxy: true where a proxy serves TLS',
    );
  for (const file of ['cert_file', 'key_file'] as const) {
    if (api.tls.enabled && api.tls[file] === '')
      report(['api', 'tls', file], 'nothing, with tls.enabled: true', 'a PEM file, or tls.enabled: false');
  }
  if (api.tls.enabled && api.tls.client_auth !== 'none' && api.tls.ca_file === '')
    report(
      ['api', 'tls', 'ca_file'],
      `nothing, with client_auth: ${api.tls.client_auth}`,
      'a PEM file with the authorities of client certificates',
    );
}

/**
 * Files of embedded topics belong to one process; `auto` takes one worker there. Whether there is a store to share
 * depends on the role.
 */
function checkWorkers(config: Config, kinds: readonly TopicLogDescription[], report: Report): void {
  if (config.workers === 1 || config.workers === 'auto') return;
  const shared = kinds.filter((kind) => kind.shared).map(({ kind }) => kind);
  if (!shared.includes(config.topics.kind))
    report(
      ['workers'],
      `${config.workers}, with topics.kind: ${config.topics.kind}`,
      `1 or auto, or topics.kind: ${shared.join(' or ')}, whose topics several processes can share`,
    );
}

function checkTopics({ topics }: Config, kinds: readonly TopicLogDescription[], report: Report): void {
  for (const { path, got, allowed } of topicLogKind(kinds, topics)?.problems(topics) ?? [])
    report(['topics', topics.kind, ...path], got, allowed);
}

function checkOpenSearch(config: Config, report: Report): void {
  const { opensearch } = config.store;
  const path = ['store', 'opensearch'] as const;
  if (opensearch.nodes.length === 0)
    report([...path, 'nodes'], 'an empty list, with store.kind: opensearch', 'at least one http(s)://host:port');
  opensearch.nodes.forEach((node, at) => {
    const valid = /^https?:\/\//.test(node) && URL.canParse(node);
    if (!valid)
      report([...path, 'nodes', at], JSON.stringify(node.replace(/\/\/[^@/]*@/, '//***@')), 'http(s)://host:port');
    else if (new URL(node).password !== '')
      report(
        [...path, 'nodes', at],
        'a password in the address',
        'the settings username and password, which are kept hidden',
      );
  });
  if ((opensearch.username === '') !== (opensearch.password === ''))
    report(
      [...path, opensearch.username === '' ? 'username' : 'password'],
      'nothing, with the other half set',
      'both username and password, or neither',
    );
}
