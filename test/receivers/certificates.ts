/** Certificates made at test time with openssl: an authority, a server, a client, and a client of another authority. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const opensslMissing = (() => {
  try {
    execFileSync('openssl', ['version'], { stdio: 'ignore' });
    return false as const;
  } catch {
    return 'openssl is not installed';
  }
})();

export interface Pair {
  readonly cert: string;
  readonly key: string;
}

export interface Certificates {
  readonly folder: string;
  readonly authority: Pair;
  readonly server: Pair;
  readonly client: Pair;
  readonly stranger: Pair;
  /** Another server certificate of the same authority, with this name. */
  issue(name: string): Pair;
}

export function createCertificates(t: { teardown(handler: () => unknown): void }): Certificates {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-tls-'));
  t.teardown(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'ignore' });
  const newKey = (name: string): string[] =>
    '-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout'.split(' ').concat(`${name}.key`);
  const pair = (name: string): Pair => ({ cert: join(folder, `${name}.pem`), key: join(folder, `${name}.key`) });
  const selfSigned = (name: string): Pair => {
    openssl('req', '-x509', ...newKey(name), '-out', `${name}.pem`, '-days', '2', '-subj', `/CN=${name}`);
    return pair(name);
  };
  const authority = selfSigned('authority');
  const issue = (name: string): Pair => {
    writeFileSync(join(folder, 'names.txt'), 'subjectAltName=DNS:localhost,IP:127.0.0.1\n');
    openssl('req', '-new', ...newKey(name), '-out', `${name}.csr`, '-subj', `/CN=${name}`);
    openssl(
      'x509',
      '-req',
      '-in',
      `${name}.csr`,
      '-CA',
      'authority.pem',
      '-CAkey',
      'authority.key',
      '-CAcreateserial',
      '-out',
      `${name}.pem`,
      '-days',
      '2',
      '-extfile',
      'names.txt',
    );
    return pair(name);
  };
  return {
    folder,
    authority,
    server: issue('server'),
    client: issue('client'),
    stranger: selfSigned('stranger'),
    issue,
  };
}
