/**
 * Audit records on their way into the pipeline, as messages like any other: rules route them into Audit logs. A request
 * never waits for them. They wait in a bounded queue; what does not fit, or is not taken before the stop, stands in the
 * program's own log and is counted as lost.
 */
import { withinDeadline } from '../../../core/time/deadline.js';
import { hostname } from 'node:os';
import { errorText } from '../../../core/errors.js';
import { buildMetrics, type Registry } from '../../../core/metrics.js';
import { createRateLimit, type Log } from '../../../core/log.js';
import type { MessageSink } from '../../../schemas/messages.js';
import { apiMetrics } from '../metrics.js';
import { apiEvents } from '../../events.js';

/** Name of the receiver of these messages: senders cannot set that field, so it tells real records from forged ones. */
const auditReceiver = 'audit';

export interface AuditMessage {
  readonly text: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Syslog severity: 6 informational, 7 debug. */
  readonly level: 6 | 7;
  readonly address: string;
  /** Further fields. */
  readonly fields?: Readonly<Record<string, string | number | boolean | undefined>>;
}

export interface AuditTrail {
  record(message: AuditMessage): void;
  /** Resolves when all is durable in the topic, or at the deadline. */
  stop(deadlineMs: number): Promise<void>;
}

interface AuditTrailOptions {
  readonly sink: MessageSink;
  readonly container: string;
  readonly maxWaiting: number;
  readonly registry: Registry;
  readonly log: Log;
}

/** Most records of one append. */
const maxBatch = 1_000;
/** Lost records in the program's log, a minute: past that only the counter says how many. */
const lostLinesPerMinute = 60;
/** Any partition would do; one lane keeps the records of this process in order. */
const lane = 0;

export const noAudit: AuditTrail = { record: () => undefined, stop: async () => undefined };

export function createAuditTrail({ sink, container, maxWaiting, registry, log }: AuditTrailOptions): AuditTrail {
  const metrics = buildMetrics(registry, apiMetrics);
  const mayTell = createRateLimit(lostLinesPerMinute);
  const waiting: AuditMessage[] = [];
  let sending: Promise<void> | undefined;
  let idle: (() => void) | undefined;

  const lose = (messages: readonly AuditMessage[], reason: string): void => {
    metrics.auditLost.inc(messages.length);
    for (const message of messages) {
      const { allowed, suppressed } = mayTell('lost');
      if (allowed) apiEvents.auditRecordLost(log, { audit: message, reason, suppressed });
    }
  };
  const send = async (): Promise<void> => {
    while (waiting.length > 0) {
      const batch = waiting.splice(0, maxBatch);
      const values = batch.map((message) => gelf(message, container));
      try {
        await sink.push({
          receiver: auditReceiver,
          lane,
          receivedAt: Date.now(),
          values,
          peers: batch.map(({ address }) => address),
          bytes: values.reduce((sum, { length }) => sum + length, 0),
        });
        metrics.auditSent.inc(batch.length);
      } catch (error) {
        lose(batch, errorText(error));
      }
    }
    sending = undefined;
    idle?.();
  };
  return {
    record(message) {
      if (waiting.length >= maxWaiting) return lose([message], 'too many records wait (api.audit.max_waiting)');
      waiting.push(message);
      // Records of one turn of the event loop share an append.
      sending ??= Promise.resolve().then(send);
    },
    async stop(deadlineMs) {
      if (sending === undefined) return;
      const sent = new Promise<void>((resolve) => {
        idle = resolve;
      });
      await withinDeadline(sent, deadlineMs);
      lose(waiting.splice(0), 'the program stops');
    },
  };
}

function gelf({ text, at, level, fields = {} }: AuditMessage, container: string): Buffer {
  const additional = Object.fromEntries(
    Object.entries(fields)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [`_${name}`, value]),
  );
  return Buffer.from(
    JSON.stringify({
      version: '1.1',
      host: hostname(),
      short_message: text,
      timestamp: at / 1000,
      level,
      _container: container,
      _container_name: container,
      _facility: 'sluice',
      ...additional,
    }),
  );
}
