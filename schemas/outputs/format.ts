/** Declares a format of outputs, as far as rule files and the API know it; what sends it is in `sinks/outputs/`. */
import type { TObject } from 'typebox';

export type OutputProtocol = 'tcp' | 'udp' | 'http';

/** Settings that do not go together. */
interface FormatProblem {
  /** In the section of the format. */
  readonly key: string;
  readonly reason: string;
  /** What was given, as a text; undefined: it is shown as it stands. */
  readonly got?: string;
  readonly allowed: string;
}

/** `Settings`: those of its section, with the defaults filled in. */
export interface OutputFormat<Type extends string = string, Settings extends object = object> {
  /** The word in the settings; also the key of the section with what is special to it. */
  readonly type: Type;
  /** As people read it: `GELF`. */
  readonly title: string;
  /** The same with more words, for those who make one. */
  readonly description: string;
  readonly protocols: readonly OutputProtocol[];
  /** Schema of its section. */
  readonly settings: TObject;
  /** Keys of its section that are for one protocol alone. */
  readonly only: Partial<Readonly<Record<OutputProtocol, readonly string[]>>>;
  /** Keys of its section that the API takes and never shows. */
  readonly secrets: readonly string[];
  /** What holds for keys that are not given. */
  defaults(protocol: OutputProtocol): Settings;
  check(given: object, protocol: OutputProtocol): readonly FormatProblem[];
}

interface Definition<Type extends string, Settings extends object> extends OutputFormat<Type, Settings> {
  readonly only: Partial<Readonly<Record<OutputProtocol, readonly (keyof Settings & string)[]>>>;
  readonly secrets: readonly (keyof Settings & string)[];
  readonly check: (given: Partial<Settings>, protocol: OutputProtocol) => readonly FormatProblem[];
}

/** Sections come checked against their schema: the only place where they get the type of their format. */
export function defineOutputFormat<Type extends string, Settings extends object>(
  definition: Definition<Type, Settings>,
): OutputFormat<Type, Settings> {
  return { ...definition, check: (given, protocol) => definition.check(given, protocol) };
}
