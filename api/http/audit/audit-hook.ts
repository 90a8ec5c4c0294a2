/**
 * Runs after every answer: access lines of the security events, one structured record for every change, search and
 * export, and the counters.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { buildMetrics } from '../../../core/metrics.js';
import { accessLine, failedLoginLine, isSecurityEvent, oneLine, withoutLiveSession } from './access-line.js';
import { defaultObject, type Audited } from '../audited.js';
import { apiMetrics } from '../metrics.js';
import type { ApiServices } from '../services.js';

const outcomes: Readonly<Record<number, string>> = { 401: 'denied', 403: 'denied', 429: 'throttled' };

/** Registered before anything can answer. An answer that the client did not wait for is recorded as well. */
export function auditHook(services: ApiServices): (request: FastifyRequest, reply: FastifyReply) => Promise<void> {
  const record = createRecorder(services);
  return async (request, reply) => {
    let done = false;
    const once = (aborted: boolean): void => {
      if (done) return;
      done = true;
      record(request, reply, aborted);
    };
    reply.raw.once('finish', () => once(false));
    reply.raw.once('close', () => once(true));
  };
}

function createRecorder(
  services: ApiServices,
): (request: FastifyRequest, reply: FastifyReply, aborted: boolean) => void {
  const metrics = buildMetrics(services.registry, apiMetrics);
  return (request, reply, aborted) => {
    const route = request.is404 ? 'unknown' : (request.routeOptions.url ?? 'unknown');
    const status = String(reply.statusCode);
    metrics.requests.inc({ method: request.is404 ? 'other' : request.method, route, status });
    if (!request.is404) metrics.requestSeconds.observe({ method: request.method, route }, reply.elapsedTime / 1000);
    const at = Date.now();
    if (isSecurityEvent(request.method, request.url)) recordAccess(services, request, reply, at);
    const name = request.routeOptions.config?.audit;
    if (name !== undefined && !request.is404) recordAction(services, request, reply, { at, name, aborted });
    else if (reply.statusCode === 401 && request.headers.authorization !== undefined)
      recordAction(services, request, reply, { at, name: 'credentials:check', aborted });
  };
}

function recordAccess({ audit }: ApiServices, request: FastifyRequest, reply: FastifyReply, at: number): void {
  const { method, ip: address } = request;
  const status = reply.statusCode;
  const text = accessLine({
    at,
    address,
    user: userOf(request),
    method,
    url: withoutLiveSession(request.url, status),
    agent: request.headers['user-agent'],
    status,
  });
  audit.record({ text, at, level: 7, address });
  const username = (request.body as { username?: unknown } | null | undefined)?.username;
  if (method === 'POST' && status === 401 && typeof username === 'string')
    audit.record({ text: failedLoginLine(at, username), at, level: 6, address });
}

function recordAction(
  { audit }: ApiServices,
  request: FastifyRequest,
  reply: FastifyReply,
  { at, name, aborted }: { readonly at: number; readonly name: string; readonly aborted: boolean },
): void {
  const audited = request.audited ?? request.routeOptions.config.audited?.(request) ?? {};
  if (audited.recordedBefore === true && reply.statusCode < 400) return;
  const { ip: address } = request;
  const actor = userOf(request) ?? attemptedName(request) ?? '-';
  const outcome = aborted ? 'aborted' : reply.statusCode < 400 ? 'success' : (outcomes[reply.statusCode] ?? 'failure');
  const object = oneLine(audited.object ?? defaultObject(request));
  const details = detailsOf(audited);
  const text = `audit: ${oneLine(actor, maxActor)} ${name} ${object}${object === '' ? '' : ' '}${outcome}`;
  audit.record({
    text,
    at,
    level: 6,
    address,
    fields: {
      log_id: 'audit',
      audit_actor: oneLine(actor, maxActor),
      audit_address: address,
      audit_action: name,
      audit_object: object === '' ? undefined : object,
      audit_outcome: outcome,
      audit_status: reply.statusCode,
      audit_details: details,
    },
  });
}

const maxActor = 200;
const maxDetails = 4_000;

function userOf(request: FastifyRequest): string | undefined {
  return (request.identity as typeof request.identity | undefined)?.username;
}

/** The name that was tried with Basic; never the password, and nothing of tokens and sessions. */
function attemptedName({ headers: { authorization = '' } }: FastifyRequest): string | undefined {
  const [, value = ''] = /^basic +([A-Za-z0-9+/]+=*)\s*$/i.exec(authorization) ?? [];
  const [, name = '', password = ''] = /^([^:]*):(.*)$/s.exec(Buffer.from(value, 'base64').toString('utf8')) ?? [];
  return name === '' || password === 'session' || password === 'token' ? undefined : name;
}

function detailsOf({ details = {} }: Audited): string | undefined {
  const text = JSON.stringify(details);
  return text === '{}' ? undefined : oneLine(text, maxDetails);
}
