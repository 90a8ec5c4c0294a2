/** The last warnings and errors of the log, for `sluice status`. */
import type { LoggerOptions } from 'pino';

const kept = 20;
const warn = 40;

export interface Problem {
  /** ISO 8601. */
  readonly time: string;
  readonly level: 'warn' | 'error';
  readonly text: string;
}

export interface RecentProblems {
  /** For `createLog`. */
  readonly hooks: NonNullable<LoggerOptions['hooks']>;
  /** Oldest first. */
  list(): readonly Problem[];
}

export function createRecentProblems(now: () => number = Date.now): RecentProblems {
  const problems: Problem[] = [];
  return {
    hooks: {
      logMethod(parameters, method, level) {
        if (level >= warn) {
          problems.push({ time: new Date(now()).toISOString(), level: level > warn ? 'error' : 'warn', text: textOf(parameters) });
          if (problems.length > kept) problems.shift();
        }
        method.apply(this, parameters);
      },
    },
    list: () => problems,
  };
}

/** The message, and what says most among the facts before it. */
function textOf(parameters: readonly unknown[]): string {
  const [first, second] = parameters;
  if (typeof first === 'string') return first;
  const facts = (first ?? {}) as Readonly<Record<string, unknown>>;
  const details = ['index_set', 'index', 'topic', 'output', 'receiver', 'code', 'error'].flatMap((name) => {
    const fact = facts[name];
    return typeof fact === 'string' || typeof fact === 'number' ? [`${name} ${fact}`] : [];
  });
  return [typeof second === 'string' ? second : '', ...details].filter((part) => part !== '').join('; ').slice(0, 500);
}
