/** Requests for an operation of the description: by the schema, nearly by the schema, and junk. */
import type { Sent } from '../asking.js';
import type { Operation, Parameter, Schema } from '../described.js';
import type { Known } from './known.js';
import type { Values } from './values.js';

export type Kind = 'fitting' | 'nearly' | 'junk';

/** Unpaired surrogates become what their three bytes would be: no text at all, but possible in a path. */
const percent = (text: string): string =>
  text
    .replaceAll(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, '\ufffd')
    .replaceAll(/[^A-Za-z0-9_.~-]+/gu, encodeURIComponent);

const brokenPaths = [
  '%zz',
  '%',
  '%c0%80',
  '%ed%a0%80',
  '%2e%2e',
  '%2f',
  'a%00b',
  '..%2f..',
  '%25',
  '%ff%fe',
  '*',
  ';a=b',
  'x'.repeat(2_000),
];
const brokenBodies: readonly ((text: string) => string | Buffer)[] = [
  (text) => text.slice(0, Math.max(1, text.length - 2)),
  (text) => `${text}}`,
  () => '',
  () => ' ',
  () => 'null',
  () => '[]',
  () => '"text"',
  () => '0',
  () => 'undefined',
  (text) => `\ufeff${text}`,
  () => '['.repeat(5_000),
  () => `${'{"a":'.repeat(90)}1${'}'.repeat(90)}`,
  () => '{"__proto__":{"a":1}}',
  () => '{"constructor":{"prototype":{"a":1}}}',
  () => '{"a":1,"a":2,"title":"x","title":5}',
  () => Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]),
  () => '{"a":1e9999}',
  () => '{"a":-0,"size":1e-400}',
  () => Buffer.from('{"a":"\ud800"}'),
  () => '{"a":"\\ud800"}',
  () => '{"a":"\\u0000"}',
  (text) => Buffer.from(text, 'utf16le'),
  () => '// x\n{}',
];
const types = [
  'application/json',
  'application/json; charset=utf-8',
  'application/vnd.x.v2+json',
  'text/plain',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/json;charset=utf-16',
  'application/xml',
  '',
  ';',
  'application/json, application/json',
];
const oddHeaders: readonly Readonly<Record<string, string>>[] = [
  { accept: 'text/csv' },
  { accept: 'text/plain' },
  { accept: '*/*;q=0' },
  { accept: ',;,q=' },
  { accept: 'application/x-none' },
  { 'accept-encoding': 'gzip, deflate;q=0.5, br' },
  { 'accept-encoding': 'identity;q=0, *;q=0' },
  { 'content-encoding': 'gzip' },
  { range: 'bytes=0-1' },
  { 'if-none-match': '*' },
  { cookie: 'authentication=x; authentication="' },
  { cookie: '=; ;;a' },
  { 'x-forwarded-for': '::1, x' },
  { 'user-agent': 'x'.repeat(2_000) },
  { authorization: 'Bearer' },
  { authorization: `Basic ${'A'.repeat(5_000)}` },
  { authorization: 'Basic OnNlc3Npb24=' },
  { expect: '100-continue' },
  { 'x-http-method-override': 'DELETE' },
  { te: 'trailers' },
  { host: 'x:99999' },
];

interface Requests {
  make(operation: Operation, kind: Kind, headers: Readonly<Record<string, string>>): Sent;
}

export function createRequests(values: Values, known: Known): Requests {
  const { pick, chance, fitting, nearly, junk } = values;
  const textOf = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));
  const valueOf = (schema: Schema, name: string, kind: Kind): unknown =>
    kind === 'fitting' ? fitting(schema, name) : kind === 'nearly' ? nearly(schema, name) : junk();

  const pathOf = ({ path, parameters }: Operation, kind: Kind): string =>
    path.replaceAll(/\{(\w+)\}/g, (_, name: string, at: number) => {
      const ids = known.ids(path.slice(0, at - 1));
      if (ids.length > 0 && chance(kind === 'junk' ? 0.3 : 0.85)) return percent(pick(ids));
      if (kind === 'junk' && chance(0.5)) return pick(brokenPaths);
      return percent(textOf(valueOf(parameters.find((one) => one.name === name)?.schema ?? {}, name, kind))) || 'x';
    });
  const parameterText = ({ name, schema }: Parameter, kind: Kind): string => {
    const value = valueOf(schema, name, kind);
    const all = Array.isArray(value) ? value.slice(0, 20) : [value];
    const texts = all.map(
      (one) => `${percent(name)}=${kind === 'junk' && chance(0.1) ? pick(brokenPaths) : percent(textOf(one))}`,
    );
    return [...texts, ...(kind !== 'fitting' && chance(0.1) ? texts : [])].join('&');
  };
  const queryOf = ({ parameters }: Operation, kind: Kind): string => {
    const asked = parameters
      .filter((one) => one.in === 'query')
      .filter(({ required }) => (required === true ? kind === 'fitting' || chance(0.9) : chance(0.4)))
      .map((one) => parameterText(one, kind === 'nearly' && chance(0.6) ? 'fitting' : kind));
    const odd =
      kind === 'junk' && chance(0.3)
        ? [
            pick([
              'a[b]=c',
              '&&',
              '=',
              '__proto__=1',
              '__proto__[x]=1',
              'constructor=1',
              '%',
              '%zz=%zz',
              'page=1&page=2',
              'x'.repeat(3_000),
              '?',
            ]),
          ]
        : [];
    return [...asked, ...odd].filter((text) => text !== '').join('&');
  };
  const bodyOf = ({ body }: Operation, kind: Kind): { readonly body?: string | Buffer; readonly type?: string } => {
    if (body === undefined) return kind === 'junk' && chance(0.2) ? { body: '{}', type: pick(types) } : {};
    if (!body.required && chance(0.2)) return {};
    const text = JSON.stringify(valueOf(body.schema, '', kind)) ?? 'null';
    if (kind !== 'junk') return { body: text, type: 'application/json' };
    return {
      body: chance(0.5) ? pick(brokenBodies)(JSON.stringify(fitting(body.schema, ''))) : text,
      type: chance(0.7) ? 'application/json' : pick(types),
    };
  };

  return {
    make(operation, kind, headers) {
      const query = queryOf(operation, kind);
      const { body, type } = bodyOf(operation, kind);
      const more = {
        ...(operation.method === 'GET' && chance(0.8) ? { accept: '*/*' } : {}),
        ...(kind === 'junk' && chance(0.4) ? pick(oddHeaders) : {}),
        ...(kind === 'junk' && chance(0.1) ? {} : { 'x-requested-by': 'fuzz' }),
      };
      return harmless({
        method: operation.method,
        path: `${pathOf(operation, kind)}${query === '' ? '' : `?${query}`}`,
        headers: {
          ...(kind === 'junk' && chance(0.1) ? {} : headers),
          ...(type === undefined || type === '' ? {} : { 'content-type': type }),
          ...more,
        },
        body,
      });
    },
  };
}

/** What listens or connects does so on this machine only. */
function harmless(sent: Sent): Sent {
  const [path = ''] = sent.path.split('?');
  const place = /^\/api\/system\/inputs/.test(path)
    ? { bind_address: '127.0.0.1', host: '127.0.0.1', port: 0 }
    : /^\/api\/system\/outputs/.test(path)
      ? { host: '127.0.0.1', hostname: '127.0.0.1', port: 9 }
      : undefined;
  const directory = path.startsWith('/api/system/authentication');
  if (sent.body === undefined || (place === undefined && !directory)) return sent;
  const urls = { urls: ['ldap://127.0.0.1:1'], timeout_ms: 200 };
  let body: unknown;
  try {
    body = JSON.parse(String(sent.body));
  } catch {
    return sent;
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return sent;
  const { configuration, settings, ...rest } = body as Record<string, unknown>;
  const object = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value);
  if (directory)
    return {
      ...sent,
      body: JSON.stringify({
        ...rest,
        ...('urls' in rest ? urls : {}),
        ...(settings === undefined
          ? {}
          : { settings: object(settings) ? { ...(settings as object), ...urls } : settings }),
      }),
    };
  const host = path.startsWith('/api/system/outputs') && 'host' in rest ? { host: '127.0.0.1', port: 9 } : {};
  return {
    ...sent,
    body: JSON.stringify({
      ...rest,
      ...host,
      configuration:
        configuration === undefined || object(configuration)
          ? { ...(configuration as object | undefined), ...place }
          : configuration,
    }),
  };
}
