/** A TLS listener takes a renewed certificate without a restart. */
import { statSync } from 'node:fs';
import type { SecureContextOptions, Server } from 'node:tls';
import { errorText } from '../errors.js';
import type { Log } from '../log.js';
import { certificateEvents } from './events.js';

/** How often the certificate files are looked at; a renewal need not be quicker. */
const checkEveryMs = 10_000;

interface CertificateFiles {
  readonly cert_file: string;
  readonly key_file: string;
  readonly ca_file: string;
}

export interface CertificateWatch {
  /** Looks at the files now; true when a new certificate is in use. */
  check(): boolean;
  stop(): void;
}

interface CertificateWatchOptions {
  readonly files: CertificateFiles;
  /** Reads the files; throws where they cannot be used. */
  readonly load: () => SecureContextOptions;
  /** Names the listener in the log: a receiver, or one of our own. */
  readonly about: { readonly receiver: string } | { readonly listener: string };
  readonly log: Log;
}

/** New connections get the new certificate; files that cannot be used leave the running one in place. */
export function watchCertificateFiles(
  server: Pick<Server, 'setSecureContext'>,
  { files, load, about, log }: CertificateWatchOptions,
): CertificateWatch {
  let seen = fingerprint(files);
  const check = () => {
    const current = fingerprint(files);
    if (current === seen) return false;
    seen = current;
    try {
      server.setSecureContext(load());
      certificateEvents.certificateReloaded(log, { ...about, cert_file: files.cert_file });
      return true;
    } catch (error) {
      certificateEvents.certificateRefused(log, { ...about, cert_file: files.cert_file, error: errorText(error) });
      return false;
    }
  };
  const timer = setInterval(check, checkEveryMs);
  timer.unref();
  return {
    check,
    stop: () => {
      clearInterval(timer);
    },
  };
}

function fingerprint({ cert_file: cert, key_file: key, ca_file: ca }: CertificateFiles): string {
  return [cert, key, ca]
    .map((file) => {
      const stat = file === '' ? undefined : statSync(file, { throwIfNoEntry: false });
      return stat === undefined ? '-' : `${stat.mtimeMs}:${stat.size}:${stat.ino}`;
    })
    .join(' ');
}
