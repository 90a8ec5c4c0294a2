/**
 * Mistakes of senders, recognised from their bytes: a named counter, and a rate-limited warning with the sender and the
 * cure.
 */
import type { Log } from '../core/log.js';
import { createRateLimit } from '../core/log.js';
import { buildMetrics, type Registry } from '../core/metrics.js';
import { peerAddress } from './listen/peer.js';
import { receiverMetrics } from './metrics.js';
import { receiverEvents } from './events.js';

/** What was seen, and what the operator or the sender's owner can do about it. */
export const diagnoses = {
  newline_for_null: {
    finding: 'Messages end with a newline where a NUL byte is expected.',
    cure: 'Let the sender end each message with a NUL byte, or set framing: newline on this receiver.',
  },
  two_documents: {
    finding: 'One frame holds several JSON documents.',
    cure: 'Let the sender end each message with the delimiter; each document was taken as a message of its own.',
  },
  oversize_frame: {
    finding: 'A frame is larger than max_frame_bytes and was skipped up to its delimiter.',
    cure: 'Raise max_frame_bytes, or check that the sender ends each message with the delimiter that this receiver expects.',
  },
  unfinished_frames: {
    finding: 'Too many bytes of frames without a delimiter are waiting; the connection was closed.',
    cure: 'Check that the sender ends each message with the delimiter that this receiver expects.',
  },
  http_on_gelf_port: {
    finding: 'An HTTP request came to a GELF port.',
    cure: 'Send it to the GELF HTTP receiver (POST /gelf, port 12202 by default).',
  },
  tls_on_plain_port: {
    finding: 'A TLS handshake came to a port without TLS.',
    cure: 'Enable tls on this receiver, or switch it off in the sender.',
  },
  plain_on_tls_port: {
    finding: 'Bytes without TLS came to a TLS port.',
    cure: 'Enable TLS in the sender, or disable tls on this receiver.',
  },
  tls_handshake_failed: {
    finding: 'A TLS handshake failed.',
    cure: 'Check the certificates: the sender must trust this receiver, and show a certificate signed by ca_file where client_auth asks for one.',
  },
  syslog_on_gelf_port: {
    finding: 'A syslog line came to a GELF port.',
    cure: 'Let the sender write GELF (rsyslog: a template with JSON), or send it to a syslog receiver.',
  },
  unknown_compression: {
    finding: 'A message is compressed in a way that GELF does not know.',
    cure: 'Let the sender use gzip or zlib, or no compression.',
  },
  chunks_incomplete: {
    finding: 'A chunked message never became complete.',
    cure: 'Datagrams are lost on the way: use chunks of 1420 bytes at most, raise receive_buffer_bytes, or send over TCP.',
  },
  too_many_connections: {
    finding: 'A connection beyond max_connections was closed.',
    cure: 'Raise max_connections, or find the sender that opens connections without closing them.',
  },
  too_many_from_address: {
    finding: 'A connection beyond max_connections_per_address was closed.',
    cure: 'Find out why this sender keeps so many connections open; raise max_connections_per_address when many senders share the address.',
  },
  gelf_on_http_port: {
    finding: 'Raw GELF bytes came to the GELF HTTP port.',
    cure: 'Send them to the GELF TCP or UDP receiver (port 12201 by default).',
  },
} as const satisfies Record<string, { readonly finding: string; readonly cure: string }>;

type DiagnosisName = keyof typeof diagnoses;

export interface Diagnosis {
  readonly name: DiagnosisName;
  /** What of it was seen: `zstd`, `POST /gelf`. */
  readonly got: string;
}

/** Lines a minute for one kind of mistake of one sender, and for one kind of all senders. */
const linesPerSender = 1;
const linesPerKind = 20;

export interface Diagnoser {
  report(name: DiagnosisName, peer: string, got?: string): void;
  /** Looks at bytes that are no message and reports what they seem to be. */
  examine(bytes: Buffer, peer: string): DiagnosisName | undefined;
}

export function createDiagnoser(
  receiver: string,
  log: Log,
  registry: Registry,
  now: () => number = Date.now,
): Diagnoser {
  const counter = buildMetrics(registry, receiverMetrics).diagnosesMade;
  const counters = new Map<string, { inc(): void }>();
  for (const name of Object.keys(diagnoses)) {
    const child = counter.labels({ receiver, diagnosis: name });
    child.inc(0);
    counters.set(name, child);
  }
  const perSender = createRateLimit(linesPerSender, now);
  const perKind = createRateLimit(linesPerKind, now);
  const report = (name: DiagnosisName, peer: string, got?: string) => {
    counters.get(name)?.inc();
    const bySender = perSender(`${name} ${peerAddress(peer)}`);
    if (!bySender.allowed) return;
    const byKind = perKind(name);
    if (!byKind.allowed) return;
    const { finding, cure } = diagnoses[name];
    receiverEvents.senderDiagnosed(
      log,
      {
        diagnosis: name,
        receiver,
        peer,
        got,
        suppressed: bySender.suppressed + byKind.suppressed,
        cure,
      },
      finding,
      peer,
      cure,
    );
  };
  return {
    report,
    examine: (bytes, peer) => {
      const found = diagnose(bytes);
      if (found !== undefined) report(found.name, peer, found.got);
      return found?.name;
    },
  };
}

const compressions: readonly { readonly magic: readonly number[]; readonly name: string }[] = [
  { magic: [0x28, 0xb5, 0x2f, 0xfd], name: 'zstd' },
  { magic: [0x42, 0x5a, 0x68], name: 'bzip2' },
  { magic: [0xfd, 0x37, 0x7a, 0x58, 0x5a], name: 'xz' },
  { magic: [0x04, 0x22, 0x4d, 0x18], name: 'lz4' },
  { magic: [0xff, 0x06, 0x00, 0x00, 0x73, 0x4e, 0x61, 0x50], name: 'snappy' },
  { magic: [0x50, 0x4b, 0x03, 0x04], name: 'zip' },
  { magic: [0x1f, 0x9d], name: 'compress' },
];
const openBrace = 0x7b;
const gzipMagic = [0x1f, 0x8b] as const;
const chunkMagic = [0x1e, 0x0f] as const;
const requestLine = /^(GET|HEAD|POST|PUT|DELETE|OPTIONS|PATCH|CONNECT|TRACE|PRI) [^\s]+( HTTP\/\d)/;
const syslogLine = /^(?:\d{1,7} )?<\d{1,3}>/;
/** Enough of the beginning for every pattern above. */
const headBytes = 2048;

/** What bytes that are no message seem to be; undefined where they are merely bad JSON. */
export function diagnose(bytes: Buffer): Diagnosis | undefined {
  const head = bytes.subarray(0, headBytes);
  const first = head[0];
  if (first === undefined) return undefined;
  // RFC 8446 5.1: content type 22 (handshake), legacy version 03 01 to 03 03, then the length; byte 5 is 1 for a client
  // hello.
  if (first === 0x16 && head[1] === 0x03 && (head[2] ?? 0xff) <= 0x04)
    return { name: 'tls_on_plain_port', got: 'TLS client hello' };
  const compression = compressions.find(({ magic }) => startsWith(head, magic));
  if (compression !== undefined) return { name: 'unknown_compression', got: compression.name };
  const text = head.toString('latin1');
  const request = requestLine.exec(text);
  if (request !== null) return { name: 'http_on_gelf_port', got: request[0].slice(0, 100) };
  const syslog = syslogLine.exec(text);
  if (syslog !== null) return { name: 'syslog_on_gelf_port', got: text.slice(0, 40) };
  if (looksCompressed(head))
    return { name: 'unknown_compression', got: `bytes ${head.subarray(0, 4).toString('hex')}, perhaps raw deflate` };
  return undefined;
}

function startsWith(bytes: Buffer, magic: readonly number[]): boolean {
  return magic.every((byte, index) => bytes[index] === byte);
}

/**
 * Binary that is neither text nor something that GELF knows: a first byte that no text begins with, or many control
 * bytes.
 */
function looksCompressed(head: Buffer): boolean {
  if (
    head.length < 8 ||
    head[0] === openBrace ||
    startsWith(head, gzipMagic) ||
    startsWith(head, chunkMagic) ||
    isZlib(head)
  )
    return false;
  let odd = 0;
  for (const byte of head) if (byte < 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0d) odd += 1;
  return odd * 20 > head.length;
}

/** RFC 1950 2.2: method 8 with a window of 32 KiB at most, and a header that divides by 31. */
function isZlib(head: Buffer): boolean {
  return head[0] === 0x78 && (0x7800 + (head[1] ?? 0)) % 31 === 0;
}
