/** What a test's teardown is for a command: actions that run in reverse order at the end. */
export interface Scope {
  teardown(action: () => Promise<void> | void): void;
  end(): Promise<void>;
}

export function createScope(): Scope {
  const actions: (() => Promise<void> | void)[] = [];
  return {
    teardown: (action) => {
      actions.push(action);
    },
    async end() {
      for (const action of actions.reverse()) await action();
      actions.length = 0;
    },
  };
}

/** Runs a command to its exit code; SIGINT and SIGTERM end it in order. */
export async function runInScope(run: (scope: Scope, signal: AbortSignal) => Promise<boolean>): Promise<void> {
  const scope = createScope();
  const stopping = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => {
      stopping.abort();
    });
  try {
    process.exitCode = (await run(scope, stopping.signal)) ? 0 : 1;
  } finally {
    await scope.end();
  }
}

/** `--for 30m` style options of the commands, in milliseconds. */
export function durationOption(name: string, fallbackMs: number): number {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? fallbackMs : milliseconds(`--${name}`, process.argv[at + 1] ?? '');
}

/** A number with ms, s, m or h behind it; without one it could be taken for another unit. */
export function milliseconds(option: string, text: string): number {
  const found = /^(\d+)(ms|s|m|h)$/.exec(text);
  if (found === null) throw new Error(`${option} takes a duration such as 500ms, 30s, 10m or 1h`);
  return Number(found[1]) * { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }[found[2] as 'ms' | 's' | 'm' | 'h'];
}

export function numberOption(name: string, fallback: number): number {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? fallback : Number(process.argv[at + 1]);
}
