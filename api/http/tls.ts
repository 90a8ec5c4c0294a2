/** TLS of the API's listener. */
import { readFileSync } from 'node:fs';
import { createSecureContext, type TlsOptions } from 'node:tls';
import { errorText } from '../../core/errors.js';
import type { ApiOptions } from '../../schemas/config/api.js';
import { apiErrors } from '../errors.js';

/** A handshake that takes longer belongs to a peer that is gone. */
const handshakeTimeoutMs = 30_000;

/** Reads the files; throws API_TLS_INVALID with what is wrong. */
export function apiTlsOptions(tls: ApiOptions['tls']): TlsOptions {
  try {
    const options: TlsOptions = {
      cert: readFileSync(tls.cert_file),
      key: readFileSync(tls.key_file),
      minVersion: 'TLSv1.2',
      handshakeTimeout: handshakeTimeoutMs,
      requestCert: tls.client_auth !== 'none',
      rejectUnauthorized: tls.client_auth === 'required',
      ...(tls.key_password === '' ? {} : { passphrase: tls.key_password }),
      ...(tls.ca_file === '' ? {} : { ca: readFileSync(tls.ca_file) }),
    };
    createSecureContext(options);
    return options;
  } catch (error) {
    throw apiErrors.create('API_TLS_INVALID', {
      place: 'api.tls',
      got: errorText(error),
      allowed: 'a PEM certificate chain with its key (cert_file, key_file, key_password, ca_file)',
      cause: error,
    });
  }
}
