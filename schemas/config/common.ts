/**
 * Building blocks of the settings. Every field has a description and a default; `secret: true` hides its value
 * everywhere.
 */
import { Type } from 'typebox';

export const port = (description: string, value: number) =>
  Type.Integer({ description, default: value, minimum: 0, maximum: 65535 });
export const bytes = (description: string, value: number) =>
  Type.Integer({ description: `${description} In bytes.`, default: value, minimum: 1 });
export const count = (description: string, value: number, minimum = 0) =>
  Type.Integer({ description, default: value, minimum });
export const milliseconds = (description: string, value: number) =>
  Type.Integer({ description: `${description} In milliseconds.`, default: value, minimum: 0 });
export const text = (description: string, value: string) => Type.String({ description, default: value });
export const flag = (description: string, value: boolean) => Type.Boolean({ description, default: value });
/** A secret: the value itself, `file:<path>` or `env:<NAME>`, resolved when the settings are loaded. Empty: none. */
export const secret = (description: string) =>
  Type.String({
    description: `${description} The value, file:<path> or env:<NAME>; empty: none.`,
    default: '',
    secret: true,
  });

export const serverTls = Type.Object(
  {
    enabled: flag('Serve TLS.', false),
    cert_file: text('Certificate chain, PEM.', ''),
    key_file: text('Private key, PEM.', ''),
    key_password: secret('Password of the private key.'),
    ca_file: text('Certificate authorities that client certificates must come from, PEM.', ''),
    client_auth: Type.Union([Type.Literal('none'), Type.Literal('optional'), Type.Literal('required')], {
      description: 'Whether clients must show a certificate signed by ca_file.',
      default: 'none',
    }),
  },
  { additionalProperties: false, default: {}, description: 'TLS of a listener.' },
);

export const clientTls = Type.Object(
  {
    enabled: flag('Connect with TLS.', false),
    ca_file: text("Certificate authorities to trust instead of the system's, PEM.", ''),
    cert_file: text('Client certificate, PEM.', ''),
    key_file: text('Private key of the client certificate, PEM.', ''),
    reject_unauthorized: flag('Refuse a server whose certificate cannot be verified.', true),
  },
  { additionalProperties: false, default: {}, description: 'TLS of a connection that Sluice opens.' },
);
