/** Metrics of the receivers. At rest received = decoded + refused + shed, exactly, counted in reassembled messages. */
import { buildMetrics, defineMetrics, type Registry } from '../core/metrics.js';

export const receiverMetrics = defineMetrics({
  messagesReceived: {
    type: 'counter',
    name: 'sluice_messages_received_total',
    labels: ['receiver'],
    help: 'Messages that arrived: frames, reassembled datagrams, messages of a request; a chunk set that was given up counts, as refused.',
  },
  messagesDecoded: {
    type: 'counter',
    name: 'sluice_messages_decoded_total',
    labels: ['receiver'],
    help: 'Messages found acceptable and handed to the topic.',
  },
  messagesRefused: {
    type: 'counter',
    name: 'sluice_messages_refused_total',
    labels: ['receiver'],
    help: 'Messages that are not acceptable: dead-lettered, or answered with 400.',
  },
  messagesShed: {
    type: 'counter',
    name: 'sluice_messages_shed_total',
    labels: ['receiver'],
    help: 'UDP messages dropped unread because the pipeline was full.',
  },
  receivedBytes: {
    type: 'counter',
    name: 'sluice_receiver_received_bytes_total',
    labels: ['receiver'],
    help: 'Bytes read from sockets, as sent (after TLS).',
  },
  connectionsOpen: { type: 'gauge', name: 'sluice_connections_open', labels: ['receiver'], help: 'Open connections.' },
  connectionsPaused: {
    type: 'gauge',
    name: 'sluice_connections_paused',
    labels: ['receiver'],
    help: 'Connections that are not read because what they sent is not yet accepted.',
  },
  connectionsOpened: {
    type: 'counter',
    name: 'sluice_connections_opened_total',
    labels: ['receiver'],
    help: 'Connections that were opened.',
  },
  connectionsClosed: {
    type: 'counter',
    name: 'sluice_connections_closed_total',
    labels: ['receiver', 'reason'],
    help: 'Connections that were closed: ended, reset, idle, limit, address_limit, tls_failed, stopped.',
  },
  framesSkipped: {
    type: 'counter',
    name: 'sluice_frames_skipped_total',
    labels: ['receiver'],
    help: 'Empty frames and datagrams, which are no messages.',
  },
  datagramsReceived: {
    type: 'counter',
    name: 'sluice_datagrams_received_total',
    labels: ['receiver'],
    help: 'Datagrams read from the socket.',
  },
  datagramsDropped: {
    type: 'counter',
    name: 'sluice_datagrams_dropped_total',
    labels: ['receiver'],
    help: 'Datagrams that the kernel dropped because the receive buffer was full (/proc/net/udp).',
  },
  receiveBufferBytes: {
    type: 'gauge',
    across: 'min',
    name: 'sluice_receive_buffer_bytes',
    labels: ['receiver'],
    help: 'Kernel receive buffer that was granted.',
  },
  chunksReceived: {
    type: 'counter',
    name: 'sluice_chunks_received_total',
    labels: ['receiver'],
    help: 'GELF chunks received.',
  },
  chunksDuplicate: {
    type: 'counter',
    name: 'sluice_chunks_duplicate_total',
    labels: ['receiver'],
    help: 'GELF chunks that came again and were ignored.',
  },
  chunkSetsCompleted: {
    type: 'counter',
    name: 'sluice_chunk_sets_completed_total',
    labels: ['receiver'],
    help: 'Chunk sets that became a message.',
  },
  chunkSetsExpired: {
    type: 'counter',
    name: 'sluice_chunk_sets_expired_total',
    labels: ['receiver'],
    help: 'Chunk sets dropped because they were not complete in time.',
  },
  chunkSetsEvicted: {
    type: 'counter',
    name: 'sluice_chunk_sets_evicted_total',
    labels: ['receiver'],
    help: 'Chunk sets dropped because too many, or too many bytes, were waiting.',
  },
  chunkSetsWaiting: {
    type: 'gauge',
    name: 'sluice_chunk_sets_waiting',
    labels: ['receiver'],
    help: 'Chunk sets that wait for further chunks.',
  },
  diagnosesMade: {
    type: 'counter',
    name: 'sluice_diagnoses_made_total',
    labels: ['receiver', 'diagnosis'],
    help: 'Mistakes of senders that were recognised; the log names the sender and the cure.',
  },
  requestsAnswered: {
    type: 'counter',
    name: 'sluice_http_requests_answered_total',
    labels: ['receiver', 'status'],
    help: 'GELF HTTP requests by status.',
  },
});

const closeReasons = ['ended', 'reset', 'idle', 'limit', 'address_limit', 'tls_failed', 'stopped'] as const;
export type CloseReason = (typeof closeReasons)[number];

export interface MessageCounters {
  readonly received: (count: number) => void;
  readonly decoded: (count: number) => void;
  readonly refused: (count: number) => void;
  readonly shed: (count: number) => void;
  readonly skipped: (count: number) => void;
  readonly bytes: (count: number) => void;
}

/** The counters that every receiver has, with their label looked up once. */
export function createMessageCounters(registry: Registry, receiver: string): MessageCounters {
  const metrics = buildMetrics(registry, receiverMetrics);
  const labels = { receiver };
  const adder = (counter: { labels(labels: Record<string, string>): { inc(by: number): void } }) => {
    const child = counter.labels(labels);
    child.inc(0);
    return (count: number) => {
      if (count > 0) child.inc(count);
    };
  };
  return {
    received: adder(metrics.messagesReceived),
    decoded: adder(metrics.messagesDecoded),
    refused: adder(metrics.messagesRefused),
    shed: adder(metrics.messagesShed),
    skipped: adder(metrics.framesSkipped),
    bytes: adder(metrics.receivedBytes),
  };
}

export interface ConnectionCounters {
  readonly opened: () => void;
  readonly closed: (reason: CloseReason) => void;
  readonly paused: (change: 1 | -1) => void;
}

/** A connection beyond the limit counts as opened and closed, so that opened - closed = open. */
export function createConnectionCounters(registry: Registry, receiver: string): ConnectionCounters {
  const metrics = buildMetrics(registry, receiverMetrics);
  const open = metrics.connectionsOpen.labels({ receiver });
  const paused = metrics.connectionsPaused.labels({ receiver });
  const opened = metrics.connectionsOpened.labels({ receiver });
  const closed = new Map(
    closeReasons.map((reason) => [reason, metrics.connectionsClosed.labels({ receiver, reason })]),
  );
  for (const counter of closed.values()) counter.inc(0);
  opened.inc(0);
  open.set(0);
  paused.set(0);
  return {
    opened: () => {
      open.inc();
      opened.inc();
    },
    closed: (reason) => {
      open.dec();
      closed.get(reason)?.inc();
    },
    paused: (change) => {
      paused.inc(change);
    },
  };
}
