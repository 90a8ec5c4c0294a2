/** What is wrong with the settings, and where. */
import type { SluiceError } from '../core/errors.js';
import { configErrors } from './errors.js';

type ConfigProblemCode = keyof typeof configErrors.kinds;
export type SettingPath = readonly (string | number)[];

export interface ConfigProblem {
  readonly code: ConfigProblemCode;
  /** `sluice.yaml:3:9`, the name of an environment variable, or the override. */
  readonly place: string;
  /** `topics.kafka.brokers`; empty for the whole. */
  readonly setting: string;
  readonly got: string | undefined;
  readonly allowed: string | undefined;
  readonly didYouMean: string | undefined;
}

/** `receivers[0].port` */
export function settingName(path: SettingPath): string {
  return path.reduce<string>(
    (name, part) => (typeof part === 'number' ? `${name}[${part}]` : name === '' ? part : `${name}.${part}`),
    '',
  );
}

function problemError(problem: ConfigProblem): SluiceError {
  const suggestion = problem.didYouMean === undefined ? '' : `. Did you mean ${problem.didYouMean}`;
  const place = problem.setting === '' ? problem.place : `${problem.place}: ${problem.setting}`;
  return configErrors.create(problem.code, {
    place,
    got: problem.got,
    allowed: problem.allowed === undefined ? undefined : `${problem.allowed}${suggestion}`,
  });
}

/** One line for each problem. */
export function problemLines(problems: readonly ConfigProblem[]): string[] {
  return problems.map((problem) => problemError(problem).message);
}

/** What came, short enough for a line. */
export function shown(value: unknown): string {
  const text =
    typeof value === 'string'
      ? JSON.stringify(value)
      : value === undefined
        ? 'nothing'
        : (JSON.stringify(value) ?? typeof value);
  return text.length <= 120 ? text : `${text.slice(0, 117)}...`;
}
