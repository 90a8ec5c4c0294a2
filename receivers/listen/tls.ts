/** TLS of a listener: files read once at start, and again when one of them has changed. */
import { readFileSync } from 'node:fs';
import { createSecureContext, type Server, type TLSSocket, type TlsOptions } from 'node:tls';
import { watchCertificateFiles, type CertificateWatch } from '../../core/tls/certificate-watch.js';
import { errorText } from '../../core/errors.js';
import type { Log } from '../../core/log.js';
import type { Diagnosis } from '../diagnosis.js';
import type { ServerTls } from '../../schemas/config/receivers.js';
import { listenErrors } from './errors.js';

/** A handshake that takes longer belongs to a peer that is gone. */
const handshakeTimeoutMs = 30_000;

/** Options for `tls.createServer` and `https.createServer`; throws RECEIVER_TLS_INVALID with what is wrong. */
export function tlsOptions(receiver: string, tls: ServerTls): TlsOptions {
  if (tls.cert_file === '' || tls.key_file === '') {
    throw listenErrors.create('RECEIVER_TLS_INVALID', {
      place: `receiver ${receiver}`,
      got: 'no cert_file or no key_file',
      allowed: 'both, as PEM files (settings tls.cert_file and tls.key_file)',
    });
  }
  if (tls.client_auth !== 'none' && tls.ca_file === '') {
    throw listenErrors.create('RECEIVER_TLS_INVALID', {
      place: `receiver ${receiver}`,
      got: `client_auth ${tls.client_auth} without ca_file`,
      allowed: 'a file of certificate authorities (setting tls.ca_file)',
    });
  }
  try {
    const options: TlsOptions = {
      cert: readFileSync(tls.cert_file),
      key: readFileSync(tls.key_file),
      minVersion: 'TLSv1.2',
      requestCert: tls.client_auth !== 'none',
      rejectUnauthorized: tls.client_auth === 'required',
      handshakeTimeout: handshakeTimeoutMs,
      ...(tls.key_password === '' ? {} : { passphrase: tls.key_password }),
      ...(tls.ca_file === '' ? {} : { ca: readFileSync(tls.ca_file) }),
    };
    createSecureContext(options);
    return options;
  } catch (error) {
    throw listenErrors.create('RECEIVER_TLS_INVALID', {
      place: `receiver ${receiver}`,
      got: errorText(error),
      allowed: 'a PEM certificate chain with its key',
      cause: error,
    });
  }
}

/** Why a client's certificate is not acceptable; undefined when it is, or when none is needed. */
export function certificateProblem(socket: TLSSocket, tls: ServerTls): string | undefined {
  if (tls.client_auth === 'none' || socket.authorized) return undefined;
  const shown = Object.keys(socket.getPeerCertificate()).length > 0;
  if (!shown) return tls.client_auth === 'required' ? 'no client certificate' : undefined;
  return `a client certificate that does not verify (${String(socket.authorizationError)})`;
}

const plainCodes: ReadonlySet<string> = new Set([
  'ERR_SSL_WRONG_VERSION_NUMBER',
  'ERR_SSL_HTTP_REQUEST',
  'ERR_SSL_PACKET_LENGTH_TOO_LONG',
  'ERR_SSL_UNEXPECTED_MESSAGE',
  'EPROTO',
]);

/** What a failed handshake says of the sender; undefined for one that merely went away (a port check). */
export function handshakeDiagnosis(error: NodeJS.ErrnoException): Diagnosis | undefined {
  const code = error.code ?? '';
  if (code === 'ECONNRESET' || code === 'EPIPE') return undefined;
  if (plainCodes.has(code))
    return {
      name: 'plain_on_tls_port',
      got: code === 'ERR_SSL_HTTP_REQUEST' ? 'an HTTP request' : 'bytes that are not TLS',
    };
  return { name: 'tls_handshake_failed', got: code === '' ? error.message : code };
}

/** New connections get the new certificate; files that cannot be used leave the running one in place. */
export function watchCertificates(
  server: Pick<Server, 'setSecureContext'>,
  receiver: string,
  tls: ServerTls,
  log: Log,
): CertificateWatch {
  return watchCertificateFiles(server, { files: tls, load: () => tlsOptions(receiver, tls), about: { receiver }, log });
}
