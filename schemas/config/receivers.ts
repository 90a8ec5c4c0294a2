/** What the settings of every receiver have. The settings of one kind stand in its own file in `receivers/`. */
import { Type, type Static } from 'typebox';
import { bytes, count, port, text, type serverTls } from './common.js';

/** The first settings of every kind; `name` and `portNumber` are the defaults. */
export const listenSettings = (name: string, portNumber: number) => ({
  name: text('Name in metrics and in the field receiver.', name),
  host: text('Address to listen on.', '0.0.0.0'),
  port: port('Port to listen on; 0 takes a free one.', portNumber),
});

export const timestampSetting = Type.Union([Type.Literal('sender'), Type.Literal('received')], {
  description:
    "Where the field timestamp comes from: the sender's GELF timestamp where usable, or always the receive time.",
  default: 'sender',
});
export const maxConnectionsPerAddress = count(
  'Connections of one address at the same time; further ones are closed at once and counted. All senders behind a proxy or NAT share one address.',
  10_000,
  1,
);
export const maxInflatedBytes = bytes(
  'Largest message after inflation; a larger one is refused by name, never cut.',
  8 * 2 ** 20,
);

/** What the program reads of the settings of a receiver whatever its kind. */
export interface ReceiverOptions {
  readonly type: string;
  readonly name: string;
  readonly host: string;
  readonly port: number;
  readonly timestamp: Static<typeof timestampSetting>;
  readonly tls?: ServerTls;
}

export type ServerTls = Static<typeof serverTls>;
