/** TLS towards a destination. Files are read at each connection, so that a renewed certificate needs no restart. */
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { isAbsolute, join } from 'node:path';
import type { ConnectionOptions } from 'node:tls';
import { errorCode, errorText } from '../../../core/errors.js';
import type { OutputTls } from '../../../schemas/outputs/output.js';
import { outputErrors } from '../errors.js';

export interface Files {
  /** Relative paths start here. */
  readonly folder: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

async function read(path: string, files: Files): Promise<Buffer | undefined> {
  if (path === '') return undefined;
  const file = isAbsolute(path) ? path : join(files.folder, path);
  return readFile(file).catch((error: unknown) => {
    throw outputErrors.create('OUTPUT_FILE_UNREADABLE', {
      place: file,
      got: errorText(error),
      allowed: 'a readable file; relative paths start at the rule folder',
      cause: error,
    });
  });
}

/** The secret behind `file:<path>` or `env:<NAME>`; empty: none. */
export async function readSecret(reference: string, files: Files): Promise<string> {
  if (reference === '') return '';
  if (reference.startsWith('file:'))
    return ((await read(reference.slice(5), files)) ?? '').toString('utf8').replace(/\r?\n$/, '');
  const value = files.environment[reference.slice(4)];
  if (value === undefined)
    throw outputErrors.create('OUTPUT_FILE_UNREADABLE', {
      place: reference,
      got: 'a variable that is not set',
      allowed: 'the name of an environment variable that is set',
    });
  return value;
}

export async function clientTlsOptions(tls: OutputTls, host: string, files: Files): Promise<ConnectionOptions> {
  const [ca, cert, key, password] = await Promise.all([
    read(tls.ca_file, files),
    read(tls.cert_file, files),
    read(tls.key_file, files),
    readSecret(tls.key_password, files),
  ]);
  const name = tls.server_name === '' ? host : tls.server_name;
  return {
    minVersion: 'TLSv1.2',
    rejectUnauthorized: tls.verify,
    ...(isIP(name) === 0 ? { servername: name } : {}),
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(password === '' ? {} : { passphrase: password }),
  };
}

const tlsCodes = /^(ERR_TLS|ERR_SSL|CERT_|UNABLE_TO_|DEPTH_ZERO|SELF_SIGNED|HOSTNAME_|ERR_OSSL|EPROTO)/;

export function isTlsError(error: unknown): boolean {
  return tlsCodes.test(errorCode(error) ?? '');
}
