/**
 * Kinds of messages as a cluster sends them, with the fields that Fluent Bit and Fluentd set. `%id%` becomes 16
 * hexadecimal digits of each message. The first field of a kind that may grow is filled with words up to the wanted
 * size.
 */
import { pick, type Random } from './random.js';

export type Fields = Record<string, string | number>;

interface Family {
  readonly name: string;
  /** How many of 100 messages. */
  readonly share: number;
  /** Size against the average. */
  readonly size: number;
  /** Field that words are added to. */
  readonly grows: 'short_message' | 'full_message';
  build(random: Random): Fields;
}

const namespaces = ['shop', 'billing', 'monitoring', 'search', 'kube-system', 'tracing'] as const;
const apps = ['pay', 'cart', 'orders', 'gateway', 'mailer', 'stock', 'users', 'report'] as const;
const texts = [
  'payment accepted for order',
  'request finished',
  'cache miss, loading from the database',
  'user session renewed',
  'slow query noticed',
  'connection pool resized',
  'retrying after a timeout of the upstream',
  'configuration reloaded',
] as const;
const levels = [
  [6, 'info'],
  [6, 'info'],
  [6, 'info'],
  [7, 'debug'],
  [4, 'warn'],
  [3, 'error'],
] as const;
const words =
  'queue worker batch offset region latency tenant shard replica commit header payload window budget socket timer bucket token index segment'.split(
    ' ',
  );

function pod(random: Random): { app: string; namespace: string; pod: string; node: string } {
  const app = pick(random, apps);
  return {
    app,
    namespace: pick(random, namespaces),
    pod: `${app}-${(random() % 0xffff).toString(16)}-${(random() % 0xfffff).toString(36)}`,
    node: `node-${random() % 12}`,
  };
}

function fluentBit(random: Random): Fields {
  const { app, namespace, pod: name, node } = pod(random);
  const [level, word] = pick(random, levels);
  return {
    short_message: `${pick(random, texts)} %id%`,
    host: 'logging-fluentbit-x7k2p',
    level,
    _namespace: namespace,
    _pod: name,
    _container: app,
    _labels_app: app,
    _nodename: node,
    _detected_level: word,
    _parse_status: 'success',
  };
}

function fluentd(random: Random): Fields {
  const { app, namespace, pod: name, node } = pod(random);
  const [level] = pick(random, levels);
  return {
    short_message: `[${pick(random, texts)}] %id%`,
    host: 'logging-fluentd-b42',
    facility: 'fluentd',
    level,
    _tag: `parsed.kubernetes.var.log.pods.${namespace}_${name}.${app}.0.log`,
    _namespace: namespace,
    _pod: name,
    _container: app,
    _labels: JSON.stringify({ app, 'app.kubernetes.io_name': app }),
    _kubernetes_host: node,
    _nc_audit_label: 'false',
  };
}

function stackTrace(random: Random): Fields {
  const { app, namespace, pod: name } = pod(random);
  const frames = Array.from(
    { length: 4 + (random() % 8) },
    () => `\tat org.example.${app}.${pick(random, words)}.run(Handler.java:${random() % 900})`,
  );
  return {
    short_message: `java.lang.IllegalStateException: ${pick(random, texts)} %id%`,
    host: 'logging-fluentbit-x7k2p',
    level: 3,
    _namespace: namespace,
    _pod: name,
    _container: app,
    _labels_app: app,
    full_message: `java.lang.IllegalStateException\n${frames.join('\n')}`,
  };
}

function ingress(random: Random): Fields {
  const code = pick(random, [200, 200, 200, 201, 304, 404, 502]);
  const path = `/api/${pick(random, apps)}/${random() % 10_000}`;
  return {
    short_message: `192.0.2.${random() % 255} - GET ${path} ${code} %id%`,
    host: 'logging-fluentbit-x7k2p',
    level: 6,
    _namespace: 'ingress',
    _pod: `ingress-nginx-controller-${(random() % 0xffff).toString(16)}`,
    _container: 'controller',
    _method: 'GET',
    _path: path,
    _code: code,
    _request_time: (random() % 1000) / 1000,
  };
}

function hostAudit(random: Random): Fields {
  return {
    short_message: `type=USER_LOGIN msg=audit(%id%): pid=${random() % 30_000} uid=0 res=success`,
    host: 'logging-fluentbit-x7k2p',
    level: 6,
    _type: 'USER_LOGIN',
    _tag: '/var/log/audit/audit.log',
    _nc_audit_label: 'true',
    _nodename: `node-${random() % 12}`,
  };
}

function apiAudit(random: Random): Fields {
  return {
    short_message: '(message) %id%',
    host: 'logging-fluentbit-x7k2p',
    level: 6,
    _tag: '/var/log/kube-apiserver/audit.log',
    _nc_audit_label: 'true',
    _verb: pick(random, ['get', 'list', 'watch', 'patch']),
    _user_username: `system:node:node-${random() % 12}`,
    _objectRef_resource: pick(random, ['pods', 'secrets', 'leases']),
    _responseStatus_code: pick(random, [200, 200, 403]),
  };
}

function event(random: Random): Fields {
  const { namespace, pod: name } = pod(random);
  return {
    short_message: `${pick(random, ['Pulled image', 'Back-off restarting', 'Readiness probe failed', 'Scheduled'])} %id%`,
    host: 'events-reader-0',
    level: 6,
    _kind: 'KubernetesEvent',
    _reason: pick(random, ['Pulled', 'BackOff', 'Unhealthy', 'Scheduled']),
    _type: pick(random, ['Normal', 'Warning']),
    _involvedObjectKind: 'Pod',
    _involvedObjectName: name,
    _namespace: namespace,
  };
}

function system(random: Random): Fields {
  return {
    short_message: `systemd[1]: Started session ${random() % 9999} of user root %id%`,
    host: 'logging-fluentbit-x7k2p',
    level: 6,
    _tag: pick(random, ['/var/log/messages', 'systemd']),
    _nodename: `node-${random() % 12}`,
  };
}

function typed(random: Random): Fields {
  return { ...fluentBit(random), _logType: pick(random, ['int', 'access']) };
}

export const families: readonly Family[] = [
  { name: 'fluent-bit', share: 48, size: 1, grows: 'short_message', build: fluentBit },
  { name: 'fluentd', share: 12, size: 1.2, grows: 'short_message', build: fluentd },
  { name: 'typed', share: 8, size: 1, grows: 'short_message', build: typed },
  { name: 'ingress', share: 12, size: 0.95, grows: 'short_message', build: ingress },
  { name: 'stack-trace', share: 5, size: 2.4, grows: 'full_message', build: stackTrace },
  { name: 'host-audit', share: 4, size: 0.7, grows: 'short_message', build: hostAudit },
  { name: 'api-audit', share: 4, size: 0.9, grows: 'short_message', build: apiAudit },
  { name: 'event', share: 4, size: 0.8, grows: 'short_message', build: event },
  { name: 'system', share: 3, size: 0.6, grows: 'short_message', build: system },
];

/** Words until at least `bytes` are filled; never longer. */
export function fillWords(random: Random, bytes: number): string {
  let text = '';
  while (text.length < bytes) text += ` ${pick(random, words)}`;
  return text.slice(0, Math.max(0, bytes));
}
