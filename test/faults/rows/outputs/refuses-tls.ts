import { readFileSync } from 'node:fs';
import { opensslMissing } from '../../../receivers/certificates.js';
import { tlsOf, type Destinations } from '../../outputs/destinations.js';
import { outputRows } from '../../outputs/row.js';

/**
 * With TLS 1.3 the client learns that it is refused only after it took itself for connected, and may have written by
 * then.
 */
async function demand({ faulty, certificates }: Destinations, certificate: boolean): Promise<void> {
  if (certificates === undefined) throw new Error('this world has no certificates');
  for (const { stream } of faulty) {
    await stream.close();
    stream.secure({
      ...tlsOf(certificates),
      ...(certificate
        ? { requestCert: true, rejectUnauthorized: true, ca: readFileSync(certificates.authority.cert) }
        : {}),
    });
    await stream.listen();
  }
}

export const outputRefusesTls = outputRows({
  name: 'output-refuses-tls',
  title: 'destination refuses TLS: demands a certificate that the output has not',
  answers: 'the destination demands none',
  tls: true,
  missing: () => (opensslMissing === false ? undefined : opensslMissing),
  begin: (destinations) => demand(destinations, true),
  end: (destinations) => demand(destinations, false),
});
