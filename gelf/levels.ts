/** Syslog severities (RFC 5424 6.2.1) by the words that log libraries and forwarders use for them. */
const words: ReadonlyMap<string, number> = new Map(
  Object.entries({
    emerg: 0,
    emergency: 0,
    panic: 0,
    alert: 1,
    fatal: 1,
    severe: 1,
    crit: 2,
    critical: 2,
    err: 3,
    error: 3,
    warn: 4,
    warning: 4,
    notice: 5,
    info: 6,
    information: 6,
    informational: 6,
    debug: 7,
    trace: 7,
    verbose: 7,
    fine: 7,
    finer: 7,
    finest: 7,
  }),
);

/** GELF libraries send any number; beyond 32 bits it is no level. */
const maxLevel = 2_147_483_647;

interface ReadLevel {
  readonly level: number;
  /** True when the number says all that the original said. */
  readonly exact: boolean;
}

export function readLevel(value: unknown): ReadLevel | undefined {
  if (typeof value === 'string') {
    const text = value.trim();
    const known = words.get(text.toLowerCase());
    if (known !== undefined) return { level: known, exact: false };
    return /^\d+(?:\.\d+)?$/.test(text) ? fromNumber(Number(text)) : undefined;
  }
  return typeof value === 'number' ? fromNumber(value) : undefined;
}

function fromNumber(value: number): ReadLevel | undefined {
  if (!(value >= 0 && value <= maxLevel)) return undefined;
  const level = Math.trunc(value);
  return { level, exact: level === value };
}
