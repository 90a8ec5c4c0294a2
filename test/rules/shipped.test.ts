import t from 'tap';
import type { LogDocument } from '../../schemas/messages.js';
import { rulesText, run } from './support.js';

const shipped = rulesText();
const streamsOf = (document: LogDocument): readonly string[] =>
  run(shipped, { source: 'node-1', message: 'text', ...document }).routing.streams;

t.test('the eight streams ship started, over the shipped index sets', async (t) => {
  t.same(
    shipped.streams.map(({ id, index_set, enabled, remove_matches_from_default_stream }) => [
      id,
      index_set,
      enabled,
      remove_matches_from_default_stream,
    ]),
    [
      ['all-messages', 'sluice_default', true, false],
      ['application-logs', 'sluice_default', true, false],
      ['system-logs', 'sluice_default', true, false],
      ['audit-logs', 'sluice_audit', true, true],
      ['integration-logs', 'sluice_integration', true, true],
      ['access-logs', 'sluice_access', true, true],
      ['ingress-logs', 'sluice_ingress', true, true],
      ['orchestrator-events', 'sluice_orchestrator_events', true, true],
    ],
  );
  t.same(
    shipped.indexSets.map(({ id, rotation, retention }) => [
      id,
      rotation.type === 'size' ? rotation.max_bytes / 1e9 : rotation,
      retention.type,
      retention.max_indices,
    ]),
    [
      ['sluice_default', 20, 'delete', 20],
      ['sluice_audit', 5, 'delete', 5],
      ['sluice_access', 1, 'delete', 4],
      ['sluice_integration', 1, 'delete', 4],
      ['sluice_ingress', 1, 'delete', 4],
      ['sluice_orchestrator_events', 1, 'delete', 4],
      ['sluice_dead_letters', 1, 'delete', 4],
    ],
  );
});

const auditTags: readonly (readonly [string, boolean])[] = [
  ['/var/log/audit/audit.log', true],
  ['parsed.var.log.audit.audit.log', true],
  ['/var/log/kube-apiserver/audit.log', true],
  ['/var/log/openshift-apiserver/audit.log', true],
  ['/var/log/kubernetes/kube-apiserver-audit.log', true],
  ['/var/log/ocp-audit.log', true],
  ['parsed.var.log.kubernetes.audit.audit.log', true],
  ['/var/log/kubernetes/audit/audit.log', false],
  ['/var/lib/origin/ocp-audit.log', false],
  ['/var/log/audit/audit.log.1', false],
  ['/var/log/messages', false],
  ['parsed.kubernetes.var.log.pods.shop_pay-5d-x1_0b0e0000-0000-4000-8000-000000000001.pay.0.log', false],
];

t.test('audit logs by tag', async (t) => {
  for (const [tag, audit] of auditTags) t.equal(streamsOf({ tag }).includes('audit-logs'), audit, tag);
});

const cases: readonly (readonly [string, LogDocument, readonly string[]])[] = [
  ['a plain message', {}, ['all-messages']],
  ['a pod', { container: 'pay', pod: 'pay-1' }, ['all-messages', 'application-logs']],
  ['a pod by its tag', { tag: 'kubernetes.var.log.containers.pay.log' }, ['all-messages', 'application-logs']],
  ['audit label true', { nc_audit_label: 'true', pod: 'p', container: 'c' }, ['audit-logs']],
  ['audit label True, sent as boolean text', { nc_audit_label: 'True' }, ['audit-logs']],
  ['audit label as boolean', { nc_audit_label: true }, ['audit-logs']],
  ['audit label false', { nc_audit_label: 'false', pod: 'p', container: 'c' }, ['all-messages', 'application-logs']],
  ['log_id audit', { log_id: 'audit' }, ['audit-logs']],
  ['log_id auditor', { log_id: 'auditor' }, ['all-messages']],
  ['own container', { container_name: 'sluice' }, ['audit-logs']],
  ['own container of compose', { container_name: 'logs-sluice-1' }, ['audit-logs']],
  [
    'own login line',
    { message: '[2020-01-01T10:00:00,001][DEBUG]192.0.2.7 - [-] "POST api/system/sessions" curl/8 200 -1' },
    ['audit-logs'],
  ],
  ['own logout line', { message: '192.0.2.7 alice [-] "DELETE api/system/sessions/5f" curl/8 204 -1' }, ['audit-logs']],
  ['own password line', { message: '192.0.2.7 alice [-] "PUT api/users/bob/password" curl/8 204 -1' }, ['audit-logs']],
  ['tracing proxy line', { message: '[2020-01-01T10:00:00Z] audit_log_type "GET / HTTP/1.1" 401' }, ['audit-logs']],
  ['messages', { tag: '/var/log/messages' }, ['all-messages', 'system-logs']],
  ['syslog, parsed', { tag: 'parsed.var.log.syslog' }, ['all-messages', 'system-logs']],
  ['the journal', { tag: 'systemd' }, ['all-messages', 'system-logs']],
  [
    'a pod called systemd',
    { tag: 'systemd-exporter', pod: 'systemd-exporter', container: 'c' },
    ['all-messages', 'application-logs'],
  ],
  ['system audit never shows in System logs', { tag: '/var/log/messages', nc_audit_label: 'true' }, ['audit-logs']],
  ['integration by field', { logType: 'int' }, ['integration-logs']],
  ['integration by the other field', { log_type: 'int' }, ['integration-logs']],
  ['integration by marker', { message: 'x [logType=int] y' }, ['integration-logs']],
  ['integration by the other marker', { message: 'x [log_type=int] y' }, ['integration-logs']],
  ['integration in the full text', { full_message: 'x [logType=int] y' }, ['integration-logs']],
  ['integration minds the case', { logType: 'INT' }, ['all-messages']],
  ['access by field', { log_type: 'access' }, ['access-logs']],
  ['access by marker', { message: '[logType=access] GET /' }, ['access-logs']],
  ['audit by marker', { message: '[logType=audit] role changed' }, ['audit-logs']],
  ['ingress', { pod: 'ingress-nginx-controller-abc', container: 'controller' }, ['ingress-logs']],
  ['ingress by pod_name', { pod_name: 'my-ingress-nginx-1' }, ['ingress-logs']],
  ['event', { kind: 'KubernetesEvent', namespace: 'shop' }, ['orchestrator-events']],
  ['another kind', { kind: 'Event' }, ['all-messages']],
];

t.test('the shipped streams take what they should', async (t) => {
  for (const [title, document, streams] of cases) t.same(streamsOf(document), streams, title);
});

t.test('a Fluent Bit pod message gets the fields of the specification', async (t) => {
  const { document } = run(shipped, {
    source: 'logging-fluentbit-abcde',
    message: 'payment accepted',
    level: 6,
    namespace: 'shop',
    pod: 'pay-5d-x1',
    container: 'pay',
    nodename: 'node-7',
    labels_app: 'pay',
    'labels_app.kubernetes.io_name': 'pay',
    labels_deployment: 'pay',
    time: '2026-01-02T03:04:05.678Z',
  });
  t.match(document, {
    'labels-app': 'pay',
    'labels-app.kubernetes.io_name': 'pay',
    'labels-deployment': 'pay',
    container_name: 'pay',
    namespace_name: 'shop',
    pod_name: 'pay-5d-x1',
    application_id: 'shop_pay-5d-x1',
    host: 'node-7',
    hostname: 'node-7',
    level: 6,
    time: '2026-01-02T03:04:05.678Z',
  });
  t.equal(document['labels_app'], undefined);
});

t.test('a Fluentd pod message gets them too', async (t) => {
  const { document, routing } = run(shipped, {
    source: 'logging-fluentd-xyz',
    facility: 'fluentd',
    message: '[2026-01-02T03:04:05,678][INFO] payment accepted',
    namespace: 'shop',
    pod: 'pay-5d-x1',
    container: 'pay',
    tag: 'parsed.kubernetes.var.log.pods.shop_pay-5d-x1_0b0e0000-0000-4000-8000-000000000001.pay.0.log',
    labels: '{"app":"pay","app.kubernetes.io/name":"pay"}',
    kubernetes_host: 'node-7',
    nc_audit_label: 'false',
  });
  t.same(routing.streams, ['all-messages', 'application-logs']);
  t.match(document, {
    'labels-app': 'pay',
    'labels-app.kubernetes.io_name': 'pay',
    pod_id: '0b0e0000-0000-4000-8000-000000000001',
    host: 'node-7',
    application_id: 'shop_pay-5d-x1',
    level: 6,
    time: '2026-01-02T03:04:05,678',
  });
  t.equal(document['labels'], undefined, 'taken apart');
});

t.test('metadata as JSON text', async (t) => {
  const { document } = run(shipped, {
    source: 's',
    message: 'm',
    docker: '{"container_id":"c0ffee"}',
    kubernetes_labels: '{"site":"left"}',
    kubernetes:
      '{"container_name":"pay","namespace_name":"shop","pod_name":"pay-1","pod_id":"uid-1","namespace_id":"uid-2","host":"node-7","labels":{"app":"pay","deploymentconfig":"dc"}}',
  });
  t.match(document, {
    docker: 'c0ffee',
    container_id: 'c0ffee',
    'labels-site': 'left',
    'labels-app': 'pay',
    'labels-deploymentconfig': 'dc',
    pod_id: 'uid-1',
    namespace_id: 'uid-2',
    host: 'node-7',
    container_name: 'pay',
    application_id: 'shop_pay-1',
  });
  t.strictSame([document['kubernetes'], document['kubernetes_labels']], [undefined, undefined]);
});

t.test('what is no JSON is kept as it is', async (t) => {
  const { document } = run(shipped, {
    source: 's',
    message: 'm',
    kubernetes: '{broken',
    labels: 'a=b',
    docker: 'c0ffee',
  });
  t.match(document, { kubernetes: '{broken', labels: 'a=b', docker: 'c0ffee' });
});

t.test('an operator changes one setting of what ships', async (t) => {
  const ruleSet = rulesText(
    'rules: [{id: level-default, enabled: false}]\nstreams: [{id: audit-logs, remove_matches_from_default_stream: false}]\nindex_sets: [{id: sluice_audit, rotation: {type: time, period: P1M}}]',
  );
  const { document, routing } = run(ruleSet, { message: 'm', log_id: 'audit' });
  t.notOk('level' in document);
  t.same(routing.streams, ['all-messages', 'audit-logs']);
  const audit = ruleSet.indexSets.find((set) => set.id === 'sluice_audit');
  t.match(audit, {
    title: 'Audit index set',
    rotation: { type: 'time', period_ms: 30 * 86_400_000 },
    retention: { max_indices: 5 },
  });
  t.not(ruleSet.version, shipped.version);
});
