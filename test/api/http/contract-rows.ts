/** One success of every route at least, and the errors that are its own, in an order in which each finds what it needs. */
import type { Whole } from './whole.js';

export interface RowOptions {
  /** Default: an administrator. */
  readonly as?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Names for values of the answer, by their places in it; `{name}` in later paths and bodies. */
  readonly keep?: Readonly<Record<string, string>>;
  /** Ask until the status is the wanted one. */
  readonly wait?: true;
}

/** [method, path, status, body, options]. */
export type ContractRow = readonly [method: string, path: string, status: number, body?: unknown, options?: RowOptions];
/** Between rows. */
export type Step = (world: Whole) => Promise<void>;

const id = (digit: string): string => digit.repeat(24);
const csv = { headers: { accept: 'text/csv' } };
const stream = { title: 'Contract', rules: [{ type: 1, field: 'app', value: 'shop' }] };
const rule = { type: 'exact', field: 'app', value: 'orders' };
const password = 'Some-password-1';
const text = { type: 'relative', range: 3600 };
const search = { id: id('a'), queries: [{ id: 'q', query: { query_string: 'container:pay' }, timerange: text, search_types: [{ id: 'list', type: 'messages' }, { id: 'table', type: 'pivot', row_groups: [{ type: 'values', fields: ['source'] }], series: [{ type: 'count' }] }] }] };
const when = { field: 'app', equals: 'shop' };
const message = { source: 'a', message: 'x', app: 'shop' };

const program: readonly ContractRow[] = [
  ['GET', '/', 200], ['GET', '/api', 200], ['GET', '/api/openapi.json', 200], ['GET', '/api/api-browser', 200, undefined, { headers: { accept: 'text/html' } }], ['GET', '/api/api-browser/start.js', 200, undefined, { headers: { accept: '*/*' } }],
  ['GET', '/api/api-browser/swagger-ui.css', 200, undefined, { headers: { accept: 'text/css' } }], ['GET', '/api/api-browser/favicon-32x32.png', 200, undefined, { headers: { accept: 'image/*' } }], ['GET', '/api/api-browser/nothing.js', 404],
  ['GET', '/api/none', 404], ['PATCH', '/api/streams', 405], ['GET', '/api/system/lbstatus', 200, undefined, { as: '' }], ['PUT', '/api/system/lbstatus/override/dead', 204], ['GET', '/api/system/lbstatus', 503, undefined, { as: '' }], ['PUT', '/api/system/lbstatus/override/throttled', 204],
  ['GET', '/api/system/lbstatus', 429], ['PUT', '/api/system/lbstatus/override/automatic', 204], ['PUT', '/api/system/lbstatus/override/asleep', 400], ['GET', '/api/system', 200], ['GET', '/api/cluster', 200], ['GET', '/api/system/cluster/nodes', 200], ['GET', '/api/system/cluster/node', 200],
  ['GET', '/api/system/journal', 200], ['GET', '/api/system/notifications', 200], ['GET', '/api/system/throughput', 200], ['GET', '/api/metrics/prometheus', 200, undefined, { headers: { accept: 'text/plain' } }],
];

const access: readonly ContractRow[] = [
  ['POST', '/api/system/sessions', 200, { username: 'the-reader', password, host: '' }, { as: '', keep: { session: 'session_id' } }], ['POST', '/api/system/sessions', 401, { username: 'the-reader', password: 'wrong' }, { as: '' }], ['POST', '/api/system/sessions', 400, { username: 'the-reader' }, { as: '' }],
  ['GET', '/api/system/sessions', 200, undefined, { as: '' }], ['GET', '/api/system/sessions', 200], ['DELETE', '/api/system/sessions/{session}', 204], ['DELETE', '/api/system/sessions', 204],
  ['GET', '/api/users', 200], ['GET', '/api/users/paginated', 200], ['GET', '/api/users/paginated?per_page=0', 400], ['GET', '/api/users/the-reader', 200], ['GET', '/api/users/id/the-reader', 200], ['GET', '/api/users/nobody', 404], ['GET', '/api/users/id/nobody', 404],
  ['POST', '/api/users', 201, { username: 'contract', password, roles: ['Reader'], email: 'a@example.org', full_name: 'A B' }], ['POST', '/api/users', 400, { username: 'contract', password }], ['POST', '/api/users', 400, { username: 'other', password: 'x' }], ['POST', '/api/users', 201, { username: 'second', password }],
  ['PUT', '/api/users/contract', 204, { email: 'b@example.org' }], ['PUT', '/api/users/nobody', 404, {}], ['PUT', '/api/users/contract', 400, { timezone: 'Mars/Phobos' }], ['PUT', '/api/users/contract/preferences', 204, { preferences: { dark: true } }], ['PUT', '/api/users/nobody/preferences', 404, { preferences: {} }],
  ['PUT', '/api/users/contract/password', 204, { password: 'Another-password-1' }], ['PUT', '/api/users/contract/password', 400, { password: 'x' }], ['PUT', '/api/users/nobody/password', 404, { password }], ['PUT', '/api/users/contract/status/disabled', 200], ['PUT', '/api/users/contract/status/disabled', 304],
  ['PUT', '/api/users/contract/status/enabled', 200], ['PUT', '/api/users/contract/status/gone', 400], ['PUT', '/api/users/nobody/status/disabled', 404], ['POST', '/api/users/contract/tokens/ci', 200, { token_ttl: 'P1D' }, { keep: { token: 'id' } }], ['POST', '/api/users/contract/tokens/cd', 200], ['POST', '/api/users/contract/tokens/ce', 400, { token_ttl: 'soon' }],
  ['POST', '/api/users/nobody/tokens/ci', 404], ['GET', '/api/users/contract/tokens', 200], ['GET', '/api/users/nobody/tokens', 404], ['DELETE', '/api/users/contract/tokens/{token}', 204], ['DELETE', '/api/users/contract/tokens/{token}', 404],
  ['GET', '/api/roles', 200], ['POST', '/api/roles', 201, { name: 'Contract', permissions: ['streams:read:all-messages'] }], ['POST', '/api/roles', 400, { name: 'Contract' }], ['GET', '/api/roles/contract', 200], ['GET', '/api/roles/none', 404], ['PUT', '/api/roles/contract', 200, { description: 'x' }], ['PUT', '/api/roles/none', 404, {}],
  ['PUT', '/api/roles/reader', 403, { description: 'x' }], ['PUT', '/api/roles/contract/members/contract', 204], ['PUT', '/api/roles/none/members/contract', 404], ['PUT', '/api/roles/contract/members/nobody', 404], ['GET', '/api/roles/contract/members', 200], ['GET', '/api/roles/none/members', 404],
  ['DELETE', '/api/roles/contract/members/contract', 204], ['DELETE', '/api/roles/none/members/contract', 404], ['DELETE', '/api/roles/administrator', 403], ['DELETE', '/api/roles/contract', 204], ['DELETE', '/api/roles/contract', 404],
  ['DELETE', '/api/users/contract', 204], ['DELETE', '/api/users/contract', 404], ['DELETE', '/api/users/id/second', 204], ['DELETE', '/api/users/id/second', 404],
  ['GET', '/api/system/authentication/ldap', 200], ['PUT', '/api/system/authentication/ldap', 200, { enabled: false, urls: ['ldap://127.0.0.1:1'], timeout_ms: 200 }], ['PUT', '/api/system/authentication/ldap', 400, { urls: ['http://127.0.0.1'] }],
  ['POST', '/api/system/authentication/ldap/test-connection', 200, { settings: { search_base: 'dc=x' } }], ['POST', '/api/system/authentication/ldap/test-connection', 400, { settings: { timeout_ms: 'x' } }], ['POST', '/api/system/authentication/ldap/test-login', 200, { username: 'bob', password: 'x' }], ['POST', '/api/system/authentication/ldap/test-login', 400, {}],
];

const searches: readonly ContractRow[] = [
  ['POST', '/api/views/search', 201, search], ['POST', '/api/views/search', 403, search, { as: 'reader' }], ['POST', '/api/views/search', 400, { id: 'short' }], ['GET', `/api/views/search/${id('a')}`, 200], ['GET', `/api/views/search/${id('b')}`, 404], ['GET', '/api/views/search/zz', 400],
  ['POST', `/api/views/search/${id('a')}/execute`, 201, {}, { keep: { job: 'id' } }], ['POST', `/api/views/search/${id('a')}/execute`, 201], ['POST', `/api/views/search/${id('b')}/execute`, 404], ['POST', `/api/views/search/${id('a')}/execute`, 400, { cancel_after_seconds: -1 }],
  ['GET', '/api/views/search/status/{job}', 200], ['GET', '/api/views/search/status/none', 404], ['GET', '/api/views/search/status/{job}', 403, undefined, { as: 'reader' }], ['DELETE', '/api/views/search/cancel/{job}', 204], ['DELETE', '/api/views/search/cancel/none', 404],
  ['POST', '/api/views/search/sync', 200, search], ['POST', '/api/views/search/sync?timeout=0', 400, search], ['POST', '/api/views/search/metadata', 200, search], ['POST', '/api/views/search/metadata', 400, []],
  ['POST', '/api/views', 200, { id: id('c'), title: 'A view', search_id: id('a') }], ['POST', '/api/views', 400, { title: 'x', search_id: id('b') }], ['POST', '/api/views', 400, {}], ['PUT', `/api/views/${id('c')}`, 200, { title: 'B', search_id: id('a') }], ['PUT', `/api/views/${id('d')}`, 404, { title: 'B', search_id: id('a') }],
  ['PUT', `/api/views/${id('c')}`, 403, { title: 'B', search_id: id('a') }, { as: 'operator' }], ['GET', '/api/views', 200], ['GET', '/api/views?per_page=-1', 400], ['GET', '/api/search/saved', 200], ['GET', '/api/dashboards', 200], ['GET', `/api/views/${id('c')}`, 200], ['GET', `/api/views/${id('d')}`, 404], ['GET', '/api/views/zz', 400],
  ['DELETE', `/api/views/${id('c')}`, 200], ['DELETE', `/api/views/${id('c')}`, 404],
  ['POST', '/api/search/suggest', 200, { field: 'source', input: 'host' }], ['POST', '/api/search/suggest', 400, {}], ['POST', '/api/search/suggest', 403, { field: 'source', streams: ['audit-logs'] }, { as: 'operator' }],
  ['POST', '/api/search/validate', 200, { query: 'a AND (' }], ['POST', '/api/search/validate', 400, { query: 5 }],
  ['GET', '/api/search/universal/relative?range=3600&query=container:pay', 200, undefined, { keep: { index: 'messages.0.index', messageId: 'messages.0.message._id' } }], ['GET', '/api/search/universal/relative', 400], ['GET', '/api/search/universal/relative?range=60&query=a%20AND%20(', 400], ['GET', '/api/search/universal/relative?range=60', 200, undefined, csv], ['GET', `/api/search/universal/relative?range=${'9'.repeat(30)}`, 200], ['GET', '/api/search/universal/keyword?keyword=last%20999999%20years', 200],
  ['GET', '/api/search/universal/relative?range=60&filter=streams:audit-logs', 403, undefined, { as: 'operator' }], ['GET', '/api/search/universal/absolute?from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z', 200], ['GET', '/api/search/universal/absolute?from=never&to=now', 400],
  ['GET', '/api/search/universal/keyword?keyword=last%20five%20minutes', 200], ['GET', '/api/search/universal/keyword?keyword=once%20upon%20a%20time', 400], ['GET', '/api/search/universal/relative/export?range=3600', 200, undefined, csv], ['GET', '/api/search/universal/relative/export', 400, undefined, csv],
  ['GET', '/api/search/universal/absolute/export?from=2026-01-01T00:00:00Z&to=2099-01-02T00:00:00Z', 200, undefined, csv], ['GET', '/api/search/universal/absolute/export', 400, undefined, csv], ['GET', '/api/search/universal/keyword/export?keyword=today', 200, undefined, csv], ['GET', '/api/search/universal/keyword/export', 400, undefined, csv],
  ['GET', '/api/search/messages?query=container:pay&timerange=1h&fields=message,source', 200], ['GET', '/api/search/messages?size=-1', 400], ['POST', '/api/search/messages', 200, { query: 'container:pay', timerange: text, fields: ['message'] }], ['POST', '/api/search/messages', 200, { query: '*' }, csv], ['POST', '/api/search/messages', 200, {}, { headers: { accept: 'text/plain' } }],
  ['POST', '/api/search/messages', 400, { query: '(' }], ['POST', '/api/search/messages', 403, { streams: ['audit-logs'] }, { as: 'operator' }], ['GET', '/api/search/aggregate?groups=source&metrics=count&timerange=1h', 200], ['GET', '/api/search/aggregate?metrics=count', 400],
  ['POST', '/api/search/aggregate', 200, { group_by: [{ field: 'source' }], metrics: [{ function: 'avg', field: 'level' }], timerange: text }], ['POST', '/api/search/aggregate', 400, { group_by: [], metrics: [{ function: 'none' }] }], ['POST', '/api/search/aggregate', 400, { group_by: [], metrics: [{ function: 'constructor' }] }], ['POST', '/api/search/aggregate', 400, { group_by: [{ field: 'timestamp', granularity: 'constructor' }], metrics: [] }],
  ['GET', '/api/search/tail?query=container:pay', 200, undefined, { headers: { accept: 'text/event-stream' } }], ['GET', '/api/search/tail?query=(', 400], ['GET', '/api/search/tail?streams=none', 403, undefined, { headers: { accept: 'text/event-stream' } }],
  ['POST', '/api/views/search/messages', 200, { timerange: text }, csv], ['POST', '/api/views/search/messages', 200, undefined, csv], ['POST', '/api/views/search/messages', 400, { time_zone: 'Mars/Phobos' }, csv], [`POST`, `/api/views/search/messages/${id('a')}`, 200, {}, csv], ['POST', `/api/views/search/messages/${id('b')}`, 404, {}, csv],
  ['POST', `/api/views/search/messages/${id('a')}/list`, 200, {}, csv], ['POST', `/api/views/search/messages/${id('a')}/other`, 404, {}, csv], ['GET', '/api/exports', 200], ['DELETE', '/api/exports/none', 404],
  ['GET', '/api/messages/{index}/{messageId}', 200], ['GET', '/api/messages/{index}/none', 404], ['GET', '/api/messages/none/none', 404], ['GET', '/api/messages/{index}/{messageId}', 404, undefined, { as: 'reader' }], ['GET', '/api/system/fields', 200], ['GET', '/api/system/fields?limit=-1', 400], ['GET', '/api/views/fields', 200],
];

const streams: readonly ContractRow[] = [
  ['GET', '/api/streams', 200], ['GET', '/api/streams/enabled', 200], ['GET', '/api/streams/paginated?query=logs', 200], ['GET', '/api/streams/paginated?page=0', 400], ['POST', '/api/streams', 201, stream, { keep: { stream: 'stream_id' } }], ['POST', '/api/streams', 400, {}], ['POST', '/api/streams', 409, { ...stream, name: 'billing' }],
  ['GET', '/api/streams/{stream}', 200], ['GET', '/api/streams/none', 404], ['PUT', '/api/streams/{stream}', 200, { title: 'Changed' }], ['PUT', '/api/streams/{stream}', 400, { matching_type: 'XOR' }], ['PUT', '/api/streams/billing', 409, { title: 'x' }], ['PUT', '/api/streams/none', 404, {}],
  ['POST', '/api/streams/{stream}/resume', 204], ['POST', '/api/streams/{stream}/pause', 204], ['POST', '/api/streams/billing/pause', 409], ['POST', '/api/streams/none/resume', 404], ['POST', '/api/streams/none/pause', 404], ['POST', '/api/streams/{stream}/clone', 201, { title: 'Again' }, { keep: { clone: 'stream_id' } }], ['POST', '/api/streams/none/clone', 404, { title: 'x' }], ['POST', '/api/streams/{stream}/clone', 400, {}],
  ['POST', '/api/streams/bulk_pause', 200, { entity_ids: ['{stream}'] }], ['POST', '/api/streams/bulk_resume', 200, { entity_ids: ['{stream}', 'none'] }], ['POST', '/api/streams/bulk_delete', 200, { entity_ids: ['{clone}'] }], ['POST', '/api/streams/bulk_pause', 400, {}], ['POST', '/api/streams/bulk_resume', 400, {}], ['POST', '/api/streams/bulk_delete', 400, {}],
  ['GET', '/api/streams/{stream}/rules', 200], ['GET', '/api/streams/none/rules', 404], ['GET', '/api/streams/{stream}/rules/types', 200], ['GET', '/api/streams/none/rules/types', 404], ['POST', '/api/streams/{stream}/rules', 201, rule, { keep: { streamRule: 'streamrule_id' } }], ['POST', '/api/streams/{stream}/rules', 400, { type: 99 }], ['POST', '/api/streams/audit-logs/rules', 409, rule],
  ['POST', '/api/streams/all-messages/rules', 400, rule], ['GET', '/api/streams/{stream}/rules/{streamRule}', 200], ['GET', '/api/streams/{stream}/rules/none', 404], ['PUT', '/api/streams/{stream}/rules/{streamRule}', 200, { ...rule, value: 'x' }, { keep: { streamRule: 'streamrule_id' } }], ['PUT', '/api/streams/{stream}/rules/none', 404, rule], ['PUT', '/api/streams/{stream}/rules/{streamRule}', 400, {}],
  ['DELETE', '/api/streams/{stream}/rules/{streamRule}', 204], ['DELETE', '/api/streams/{stream}/rules/{streamRule}', 404], ['POST', '/api/streams/{stream}/testMatch', 200, { message }], ['POST', '/api/streams/{stream}/testMatch', 400, {}], ['POST', '/api/streams/none/testMatch', 404, { message }],
  ['POST', '/api/streams/{stream}/try/history', 200, { messages: 10 }], ['POST', '/api/streams/none/try/history', 404, {}], ['POST', '/api/streams/{stream}/try/history', 400, { messages: -1 }], ['POST', '/api/streams/try/history', 200, { rules: [rule], messages: 10 }], ['POST', '/api/streams/try/history', 400, {}],
];

const indexSets: readonly (ContractRow | Step)[] = [
  ['GET', '/api/system/indices/index_sets?stats=true', 200], ['GET', '/api/system/indices/index_sets?limit=-1', 400], ['GET', '/api/system/indices/index_sets/stats', 200], ['POST', '/api/system/indices/index_sets', 200, { title: 'Shop', index_prefix: 'shop' }], ['POST', '/api/system/indices/index_sets', 409, { index_prefix: 'shop' }], ['POST', '/api/system/indices/index_sets', 400, {}],
  ['GET', '/api/system/indices/index_sets/shop', 200], ['GET', '/api/system/indices/index_sets/none', 404], ['GET', '/api/system/indices/index_sets/shop/stats', 200], ['GET', '/api/system/indices/index_sets/none/stats', 404], ['PUT', '/api/system/indices/index_sets/shop', 200, { title: 'Shops' }], ['PUT', '/api/system/indices/index_sets/shop', 400, { index_prefix: 'x' }],
  ['PUT', '/api/system/indices/index_sets/filed', 409, { title: 'x' }], ['PUT', '/api/system/indices/index_sets/none', 404, {}], ['POST', '/api/system/deflector/shop/cycle', 204], ['POST', '/api/system/deflector/none/cycle', 404], ['POST', '/api/system/indexer/indices/shop_0/close', 204], ['POST', '/api/system/indexer/indices/shop_1/close', 403], ['POST', '/api/system/indexer/indices/none_0/close', 404],
  async ({ sluice }) => { await sluice.processor?.indexSets.checkRetention(); },
  ['POST', '/api/system/indexer/indices/shop_0/reopen', 204, undefined, { wait: true }], ['POST', '/api/system/indexer/indices/none_0/reopen', 404], ['GET', '/api/system/indexer/indices', 200], ['GET', '/api/system/indexer/indices/open', 200], ['GET', '/api/system/indexer/indices/closed', 200], ['GET', '/api/system/indexer/indices/reopened', 200],
  ['GET', '/api/system/indexer/cluster/health', 200], ['GET', '/api/system/indexer/cluster/name', 200], ['DELETE', '/api/system/indexer/indices/shop_0', 204], ['DELETE', '/api/system/indexer/indices/none_0', 404], ['DELETE', '/api/system/indices/index_sets/sluice_default', 409], ['DELETE', '/api/system/indices/index_sets/shop', 204], ['DELETE', '/api/system/indices/index_sets/shop', 404],
  ['GET', '/api/system/indexer/failures', 200], ['GET', '/api/system/indexer/failures?limit=-1', 400], ['GET', '/api/system/indexer/failures/count', 200], ['GET', '/api/system/indexer/failures/count?since=never', 400],
];

const outputs: readonly ContractRow[] = [
  ['GET', '/api/system/outputs', 200], ['GET', '/api/system/outputs/available', 200], ['POST', '/api/system/outputs', 201, { title: 'Siem', type: 'GELF', host: '127.0.0.1', port: 9 }], ['POST', '/api/system/outputs', 400, { title: 'x', type: 'KAFKA' }], ['GET', '/api/system/outputs/siem', 200], ['GET', '/api/system/outputs/none', 404],
  ['GET', '/api/system/outputs/siem/state', 200, undefined, { wait: true }], ['GET', '/api/system/outputs/own-output/state', 200], ['GET', '/api/system/outputs/none/state', 404], ['PUT', '/api/system/outputs/siem', 200, { title: 'SIEM' }], ['PUT', '/api/system/outputs/siem', 400, { port: 0 }], ['PUT', '/api/system/outputs/own-output', 409, {}], ['PUT', '/api/system/outputs/none', 404, {}],
  ['POST', '/api/system/outputs/siem/pause', 204], ['POST', '/api/system/outputs/siem/resume', 204], ['POST', '/api/system/outputs/none/pause', 404], ['POST', '/api/system/outputs/none/resume', 404], ['POST', '/api/system/outputs/own-output/resume', 409], ['POST', '/api/streams/{stream}/outputs', 202, { outputs: ['siem'] }], ['POST', '/api/streams/{stream}/outputs', 404, { outputs: ['none'] }],
  ['POST', '/api/streams/{stream}/outputs', 400, {}], ['GET', '/api/streams/{stream}/outputs', 200], ['GET', '/api/streams/none/outputs', 404], ['DELETE', '/api/streams/{stream}/outputs/siem', 204], ['DELETE', '/api/streams/{stream}/outputs/siem', 404], ['DELETE', '/api/system/outputs/own-output', 409], ['DELETE', '/api/system/outputs/siem', 204], ['DELETE', '/api/system/outputs/siem', 404],
  ['DELETE', '/api/streams/{stream}', 204], ['DELETE', '/api/streams/{stream}', 404], ['DELETE', '/api/streams/audit-logs', 409],
];

const inputs: readonly ContractRow[] = [
  ['GET', '/api/system/inputs', 200], ['GET', '/api/system/inputs/types', 200], ['POST', '/api/system/inputs', 201, { title: 'Second door', type: 'gelf_tcp', configuration: { host: '127.0.0.1', port: 0 } }], ['POST', '/api/system/inputs', 400, { title: 'x' }], ['POST', '/api/system/inputs', 400, { title: 'x', type: 'gelf_tcp', configuration: { toString: 1 } }], ['POST', '/api/system/inputs', 400, { title: 'x', type: 'gelf_tcp', configuration: { tls_client_auth: { toString: 1 } } }], ['GET', '/api/system/inputs/second-door', 200], ['GET', '/api/system/inputs/none', 404],
  ['PUT', '/api/system/inputs/second-door', 201, { title: 'Second' }], ['PUT', '/api/system/inputs/second-door', 400, { configuration: { colour: 'red' } }], ['PUT', '/api/system/inputs/gelf-tcp', 409, { title: 'x' }], ['PUT', '/api/system/inputs/none', 404, {}], ['GET', '/api/system/inputstates', 200], ['GET', '/api/system/inputstates/second-door', 200], ['GET', '/api/system/inputstates/none', 404],
  ['DELETE', '/api/system/inputstates/second-door', 200], ['PUT', '/api/system/inputstates/second-door', 200], ['DELETE', '/api/system/inputstates/gelf-tcp', 409], ['DELETE', '/api/system/inputstates/none', 404], ['PUT', '/api/system/inputstates/none', 404], ['DELETE', '/api/system/inputs/gelf-tcp', 409], ['DELETE', '/api/system/inputs/second-door', 204], ['DELETE', '/api/system/inputs/second-door', 404],
];

const rules: readonly ContractRow[] = [
  ['GET', '/api/rules', 200], ['POST', '/api/rules', 201, { name: 'red', when, then: [{ set: { field: 'team', value: 'red' } }] }], ['POST', '/api/rules', 409, { name: 'red', when, then: [{ drop: {} }] }], ['POST', '/api/rules', 400, { when: { fild: 1 } }], ['GET', '/api/rules/red', 200], ['GET', '/api/rules/none', 404], ['PUT', '/api/rules/red', 200, { enabled: false }],
  ['PUT', '/api/rules/red', 400, { when: { fild: 1 } }], ['PUT', '/api/rules/own-rule', 409, {}], ['PUT', '/api/rules/none', 404, {}], ['POST', '/api/rules/red/try', 200, { message }], ['POST', '/api/rules/none/try', 404, { message }], ['POST', '/api/rules/red/try', 400, {}], ['POST', '/api/rules/try', 200, { when, then: [{ drop: true }], message }], ['POST', '/api/rules/try', 400, { when: { fild: 1 }, message }],
  ['POST', '/api/rules/try/history', 200, { when, messages: 10 }], ['POST', '/api/rules/try/history', 400, { when: { never: 1 } }], ['DELETE', '/api/rules/own-rule', 409], ['DELETE', '/api/rules/red', 204], ['DELETE', '/api/rules/red', 404],
];

const form = { headers: { 'content-type': 'application/x-www-form-urlencoded', accept: '*/*' } };
const plugin = '/api/plugins/org.example.obfuscation/obfuscation';
const rest: readonly ContractRow[] = [
  ['GET', '/api/system/obfuscation', 200], ['PUT', '/api/system/obfuscation', 200, { enabled: true }], ['PUT', '/api/system/obfuscation', 400, { patterns: [{ id: 'bad', pattern: '(' }] }], ['POST', '/api/system/obfuscation/try', 200, { text: 'it is 123-45-6789' }], ['POST', '/api/system/obfuscation/try', 400, {}], ['GET', `${plugin}/configuration`, 200],
  ['POST', `${plugin}/configuration`, 200, { 'is-obfuscation-enabled': false }, { headers: { accept: '*/*' } }], ['POST', `${plugin}/configuration`, 400, { 'field-names': 5 }, { headers: { accept: '*/*' } }], ['GET', `${plugin}/replacers`, 200], ['POST', plugin, 200, { text: 'it is 123-45-6789' }], ['POST', plugin, 400, {}], ['DELETE', '/api/system/obfuscation', 204],
  ['PUT', `${plugin}/configuration/sync`, 200, 'sync_mode=skip', form], ['PUT', `${plugin}/configuration/sync`, 400, 'sync_mode=x', form], ['PUT', `${plugin}/configuration/reset`, 200, undefined, { headers: { accept: '*/*' } }], ['PUT', `${plugin}/configuration/restore`, 200, undefined, { headers: { accept: '*/*' } }], ['POST', `${plugin}/regex/compile/test`, 200, ['(', { pattern: 'a+' }]], ['POST', `${plugin}/regex/compile/test`, 400, {}],
  ['POST', plugin, 200, 'it is 123-45-6789', { headers: { 'content-type': 'text/plain' } }],
  ['GET', '/api/dead-letters', 200, undefined, { keep: { letter: 'dead_letters.0.id' } }], ['GET', '/api/dead-letters?limit=-1', 400], ['GET', '/api/dead-letters/{letter}', 200], ['GET', '/api/dead-letters/none', 404], ['POST', '/api/dead-letters/replay', 202, { all: true, dry_run: true }, { keep: { work: 'id' } }], ['POST', '/api/dead-letters/replay', 400, {}],
  ['POST', '/api/dead-letters/drop', 202, { ids: ['{letter}'] }, { wait: true }], ['POST', '/api/dead-letters/drop', 400, {}], ['GET', '/api/dead-letters/jobs', 200], ['GET', '/api/dead-letters/jobs/{work}', 200], ['GET', '/api/dead-letters/jobs/none', 404], ['DELETE', '/api/dead-letters/jobs/{work}', 204], ['DELETE', '/api/dead-letters/jobs/none', 404],
];

const source = 'rule "Red"\nwhen\n  has_field("app")\nthen\n  set_field("team", "red");\nend';
const stages = 'pipeline "Teams"\nstage 0 match either\nrule "Red"\nend';
const pipelines: readonly ContractRow[] = [
  ['GET', '/api/system/pipelines/rule', 200], ['POST', '/api/system/pipelines/rule', 200, { source }, { keep: { pipelineRule: 'id' } }], ['POST', '/api/system/pipelines/rule', 400, { source: 'rule' }], ['GET', '/api/system/pipelines/rule/{pipelineRule}', 200], ['GET', '/api/system/pipelines/rule/none', 404],
  ['PUT', '/api/system/pipelines/rule/{pipelineRule}', 200, { source }], ['PUT', '/api/system/pipelines/rule/{pipelineRule}', 400, { source: 'x' }], ['PUT', '/api/system/pipelines/rule/none', 404, { source }], ['POST', '/api/system/pipelines/rule/parse', 200, { source }], ['POST', '/api/system/pipelines/rule/parse', 400, { source: 'x' }],
  ['GET', '/api/system/pipelines/pipeline', 200], ['POST', '/api/system/pipelines/pipeline', 200, { source: stages }, { keep: { pipeline: 'id' } }], ['POST', '/api/system/pipelines/pipeline', 400, { source: 'x' }], ['GET', '/api/system/pipelines/pipeline/{pipeline}', 200], ['GET', '/api/system/pipelines/pipeline/none', 404],
  ['PUT', '/api/system/pipelines/pipeline/{pipeline}', 200, { source: stages }], ['PUT', '/api/system/pipelines/pipeline/{pipeline}', 400, { source: 'x' }], ['PUT', '/api/system/pipelines/pipeline/none', 404, { source: stages }], ['POST', '/api/system/pipelines/pipeline/parse', 200, { source: stages }], ['POST', '/api/system/pipelines/pipeline/parse', 400, { source: 'x' }],
  ['POST', '/api/system/pipelines/connections/to_stream', 200, { stream_id: 'all-messages', pipeline_ids: ['{pipeline}'] }], ['POST', '/api/system/pipelines/connections/to_stream', 404, { stream_id: 'none', pipeline_ids: [] }], ['POST', '/api/system/pipelines/connections/to_stream', 400, {}], ['GET', '/api/system/pipelines/connections', 200],
  ['GET', '/api/system/pipelines/connections/all-messages', 200], ['GET', '/api/system/pipelines/connections/none', 404], ['POST', '/api/system/pipelines/connections/to_pipeline', 200, { pipeline_id: '{pipeline}', stream_ids: [] }], ['POST', '/api/system/pipelines/connections/to_pipeline', 404, { pipeline_id: 'none', stream_ids: [] }],
  ['DELETE', '/api/system/pipelines/rule/{pipelineRule}', 409], ['DELETE', '/api/system/pipelines/pipeline/{pipeline}', 204], ['DELETE', '/api/system/pipelines/pipeline/{pipeline}', 404], ['DELETE', '/api/system/pipelines/rule/{pipelineRule}', 204], ['DELETE', '/api/system/pipelines/rule/{pipelineRule}', 404],
];

const extractors = '/api/system/inputs/gelf-tcp/extractors';
const extractor = { title: 'Copy', source_field: 'message', target_field: 'copy', extractor_type: 'copy_input', extractor_config: {}, cut_or_copy: 'copy', converters: {}, condition_type: 'none', condition_value: '' };
const packs = '/api/system/content_packs';
const pack = { v: '1', id: '00000000-0000-4000-8000-000000000001', rev: 1, name: 'A pack', parameters: [], entities: [] };
const deployed: readonly ContractRow[] = [
  ['GET', extractors, 200], ['GET', '/api/system/inputs/none/extractors', 404], ['POST', extractors, 201, extractor, { keep: { extractor: 'extractor_id' } }], ['POST', extractors, 400, {}], ['POST', '/api/system/inputs/none/extractors', 404, extractor], ['GET', `${extractors}/{extractor}`, 200], ['GET', `${extractors}/none`, 404], ['PUT', `${extractors}/{extractor}`, 200, extractor],
  ['PUT', `${extractors}/none`, 404, extractor], ['PUT', `${extractors}/{extractor}`, 400, {}], ['POST', `${extractors}/order`, 204, { order: { 0: '{extractor}' } }], ['POST', `${extractors}/order`, 404, { order: { 0: 'none' } }], ['DELETE', `${extractors}/{extractor}`, 204], ['DELETE', `${extractors}/{extractor}`, 404],
  ['GET', '/api/system/grok', 200], ['POST', '/api/system/grok', 201, { name: 'LEVELWORD', pattern: '(?:INFO|WARN)' }, { keep: { grok: 'id' } }], ['POST', '/api/system/grok', 400, { name: 'x y', pattern: 'a' }], ['POST', '/api/system/grok', 202, 'LINE a\nOTHER b', { headers: { 'content-type': 'text/plain' } }], ['GET', '/api/system/grok/{grok}', 200], ['GET', '/api/system/grok/none', 404],
  ['PUT', '/api/system/grok/{grok}', 200, { name: 'LEVELWORD', pattern: '(?:INFO|ERROR)' }], ['PUT', '/api/system/grok/{grok}', 400, {}], ['PUT', '/api/system/grok/none', 404, { name: 'LEVELWORD', pattern: 'a' }], ['PUT', '/api/system/grok', 202, { patterns: [{ name: 'MORE', pattern: 'a+' }] }], ['PUT', '/api/system/grok', 400, {}], ['POST', '/api/system/grok/test', 200, { grok_pattern: { name: 'T', pattern: '%{LEVELWORD:level}' }, sampleData: 'INFO' }],
  ['POST', '/api/system/grok/test', 400, { pattern: '(' }], ['DELETE', '/api/system/grok/{grok}', 204], ['DELETE', '/api/system/grok/{grok}', 404],
  ['GET', packs, 200], ['POST', packs, 201, pack], ['POST', packs, 400, {}], ['GET', `${packs}/latest`, 200], ['GET', `${packs}/${pack.id}`, 200], ['GET', `${packs}/none`, 404], ['GET', `${packs}/${pack.id}/1`, 200], ['GET', `${packs}/${pack.id}/9`, 404], ['POST', `${packs}/${pack.id}/1/installations`, 200, { comment: 'x' }, { keep: { installation: '_id' } }], ['POST', `${packs}/${pack.id}/9/installations`, 404, {}],
  ['GET', `${packs}/${pack.id}/installations`, 200], ['DELETE', `${packs}/${pack.id}`, 409], ['DELETE', `${packs}/${pack.id}/1`, 409], ['DELETE', `${packs}/${pack.id}/installations/{installation}`, 200], ['DELETE', `${packs}/${pack.id}/installations/none`, 404], ['POST', packs, 201, { ...pack, rev: 2 }], ['DELETE', `${packs}/${pack.id}/2`, 204], ['DELETE', `${packs}/${pack.id}/2`, 404],
  ['DELETE', `${packs}/${pack.id}`, 204], ['DELETE', `${packs}/${pack.id}`, 404],
];

export const contractRows: readonly (ContractRow | Step)[] = [...program, ...access, ...searches, ...streams, ...indexSets, ...outputs, ...inputs, ...rules, ...pipelines, ...deployed, ...rest];
