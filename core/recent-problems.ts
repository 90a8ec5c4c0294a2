/** The last warnings and errors of the log, for `sluice status`. */
import type { LoggerOptions } from 'pino';

const kept = 20;
const warn = 40;

export interface Problem {
  /** When it came last, ISO 8601. */
  readonly time: string;
  readonly level: 'warn' | 'error';
  readonly text: string;
  /** How often it came, and since when. */
  readonly count: number;
  readonly since: string;
}

type Facts = Readonly<Record<string, unknown>>;

export interface RecentProblems {
  /** For `createLog`. */
  readonly hooks: NonNullable<LoggerOptions['hooks']>;
  /** One for each cause, the one that came last at the end. */
  list(): readonly Problem[];
  /** What was warned of with this message and about the same thing is over. */
  solved(facts: Facts, message: string): void;
}

export function createRecentProblems(now: () => number = Date.now): RecentProblems {
  /** By cause, in order of the last time. */
  const problems = new Map<string, Problem>();
  const note = (level: Problem['level'], parameters: readonly unknown[]): void => {
    const cause = causeOf(parameters);
    const before = problems.get(cause);
    const time = new Date(now()).toISOString();
    problems.delete(cause);
    problems.set(cause, {
      time,
      level,
      text: textOf(parameters),
      count: (before?.count ?? 0) + 1,
      since: before?.since ?? time,
    });
    const oldest = problems.size > kept ? problems.keys().next().value : undefined;
    if (oldest !== undefined) problems.delete(oldest);
  };
  return {
    hooks: {
      logMethod(parameters, method, level) {
        if (level >= warn) note(level > warn ? 'error' : 'warn', parameters);
        method.apply(this, parameters);
      },
    },
    list: () => [...problems.values()],
    solved: (facts, message) => void problems.delete(causeOf([facts, message])),
  };
}

/** Facts that name what a message is about: with one of them, another error is news of the same cause. */
const subjects = ['index_set', 'index', 'topic', 'output', 'receiver'];

function causeOf(parameters: readonly unknown[]): string {
  const [first, second] = parameters;
  if (typeof first === 'string') return first;
  const facts = (first ?? {}) as Facts;
  const named = subjects.flatMap((name) => (typeof facts[name] === 'string' ? [name, facts[name]] : []));
  return named.length === 0 ? textOf(parameters) : JSON.stringify([second, ...named]);
}

/** The message, and what says most among the facts before it. */
function textOf(parameters: readonly unknown[]): string {
  const [first, second] = parameters;
  if (typeof first === 'string') return first;
  const facts = (first ?? {}) as Facts;
  const details = [...subjects, 'code', 'error'].flatMap((name) => {
    const fact = facts[name];
    return typeof fact === 'string' || typeof fact === 'number' ? [`${name} ${fact}`] : [];
  });
  return [typeof second === 'string' ? second : '', ...details]
    .filter((part) => part !== '')
    .join('; ')
    .slice(0, 500);
}
