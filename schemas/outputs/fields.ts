/** Fields of the settings of outputs. */
import { Type } from 'typebox';

export const closed = { additionalProperties: false } as const;
export const milliseconds = (description: string, value: number) =>
  Type.Optional(
    Type.Integer({ description: `${description} In milliseconds.`, minimum: 1, maximum: 86_400_000, default: value }),
  );
export const flag = (description: string, value: boolean) =>
  Type.Optional(Type.Boolean({ description, default: value }));
export const text = (description: string, value: string) =>
  Type.Optional(Type.String({ description, default: value, maxLength: 1_000 }));
export const size = (description: string) =>
  Type.Optional(
    Type.Union([Type.Integer({ minimum: 1 }), Type.String({ minLength: 1 })], {
      description: `${description} Bytes, or a number with B, kB, MB, GB, KiB, MiB, GiB.`,
    }),
  );
export const reference = (description: string) =>
  Type.Optional(
    Type.String({
      description: `${description} file:<path> or env:<NAME>, never the value itself: rule files are kept with each change.`,
      pattern: '^(?:file:.+|env:[A-Za-z_][A-Za-z0-9_]*)$',
    }),
  );
