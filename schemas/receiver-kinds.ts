/**
 * What the rest of the program knows of a kind of receivers: plain data, declared in the kind's own file in
 * `receivers/`.
 */
import type { TObject } from 'typebox';
import type { ReceiverOptions } from './config/receivers.js';

export interface ReceiverDescription {
  /** The word in the settings: `gelf_tcp`. */
  readonly type: string;
  /** As people read it: `GELF TCP`. */
  readonly title: string;
  readonly transport: 'tcp' | 'udp';
  /** Settings that name no receivers get one of it. */
  readonly byDefault: boolean;
  /** Schema of its settings, each with description and default. */
  readonly settings: TObject;
  /** The setting that limits one message after inflation, in bytes. */
  readonly messageLimit: string;
  /** Settings of a Graylog input of this kind. */
  readonly graylogSettings: GraylogSettings;
  /** Settings that work but are probably not meant, a sentence each that begins with the setting's name. */
  warnings(options: ReceiverOptions): readonly string[];
}

/** Graylog's name of a setting → how it is taken. */
export type GraylogSettings = Readonly<Record<string, TakenSetting>>;

/**
 * Our name of it, `tls.enabled` for one of a section; a function where the value differs too; undefined: it means
 * nothing here.
 */
type TakenSetting =
  | string
  | undefined
  | ((value: unknown) => { readonly name: string; readonly value: unknown } | undefined);

/** `gelf_tcp, gelf_udp or gelf_http`. */
export function receiverTypes(kinds: readonly ReceiverDescription[]): string {
  const types = kinds.map(({ type }) => type);
  return types.length < 2 ? types.join('') : `${types.slice(0, -1).join(', ')} or ${types.at(-1)}`;
}

/** Bytes of the largest message that a receiver with these settings takes. */
export function messageLimitOf(kind: ReceiverDescription, options: ReceiverOptions): number {
  const settings: Readonly<Record<string, unknown>> = { ...options };
  const limit = settings[kind.messageLimit];
  return typeof limit === 'number' ? limit : 0;
}
