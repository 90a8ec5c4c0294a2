/**
 * Destinations of outputs for a world: GELF and SYSLOG over TCP by turns; the first half has the fault, the others must
 * not notice.
 */
import { readFileSync } from 'node:fs';
import type { TlsOptions } from 'node:tls';
import { createCertificates, type Certificates } from '../../receivers/certificates.js';
import { createStreamDestination, type StreamDestination } from '../../sinks/outputs/receivers.js';
import { createDeliveries, type Deliveries } from './deliveries.js';

export interface OutputNeeds {
  /** 1: the one has the fault. More: every second one has it. */
  readonly count: number;
  readonly tls?: boolean;
}

interface Destination {
  readonly id: string;
  readonly faulty: boolean;
  readonly stream: StreamDestination;
  readonly deliveries: Deliveries;
  /** Its output in a rule file, as JSON. */
  readonly rule: string;
}

export interface Destinations {
  readonly all: readonly Destination[];
  readonly faulty: readonly Destination[];
  readonly sound: readonly Destination[];
  readonly certificates: Certificates | undefined;
}

/**
 * So that a destination that is taken for gone is connected anew within the fault, and the pauses between attempts do
 * not decide the seconds.
 */
const timing = { write_timeout_ms: 2_000, connect_timeout_ms: 2_000, retry_most_ms: 2_000, confirm_after_ms: 500 };

export function tlsOf({ server }: Certificates): TlsOptions {
  return { cert: readFileSync(server.cert), key: readFileSync(server.key) };
}

export async function createDestinations(
  { count, tls = false }: OutputNeeds,
  cleanup: { teardown(action: () => Promise<void> | void): void },
): Promise<Destinations> {
  const certificates = tls ? createCertificates(cleanup) : undefined;
  const all: Destination[] = [];
  for (let at = 0; at < count; at += 1) {
    const syslog = at % 4 > 1;
    const deliveries = createDeliveries(syslog ? 0x0a : 0);
    const stream = await createStreamDestination(
      cleanup,
      certificates === undefined ? undefined : tlsOf(certificates),
      deliveries.take,
    );
    const id = `o${at}`;
    const rule = JSON.stringify({
      id,
      type: syslog ? 'syslog' : 'gelf',
      host: '127.0.0.1',
      port: stream.port,
      streams: ['all-messages'],
      ...timing,
      ...(syslog ? { syslog: { framing: 'newline' } } : {}),
      ...(certificates === undefined ? {} : { tls: { ca_file: certificates.authority.cert } }),
    });
    all.push({ id, faulty: count === 1 || at % 2 === 0, stream, deliveries, rule });
  }
  return { all, faulty: all.filter(({ faulty }) => faulty), sound: all.filter(({ faulty }) => !faulty), certificates };
}
