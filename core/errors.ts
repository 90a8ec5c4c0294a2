/**
 * Every error that Sluice throws or reports. A folder declares its codes once, as data, with `defineErrors`;
 * the reference page `docs/reference/errors.md` is generated from these tables.
 */

export interface ErrorKind {
  /** False: the same data can never pass. True: the same call may pass later. */
  readonly retryable: boolean;
  /** What happened and what to do next, one sentence; no values. */
  readonly summary: string;
}

export interface ErrorDetails {
  /** Where: file:line:column, peer address, topic and partition, index, field. */
  readonly place?: string | undefined;
  /** What came. Shortened by the caller; never a secret. */
  readonly got?: string | undefined;
  /** What is allowed, with the setting that changes it. */
  readonly allowed?: string | undefined;
  readonly cause?: unknown;
}

const brand = Symbol.for('sluice.error');

export class SluiceError extends Error {
  readonly code: string;
  readonly retryable: boolean;
  readonly place: string | undefined;
  readonly got: string | undefined;
  readonly allowed: string | undefined;
  readonly [brand] = true;

  constructor(code: string, kind: ErrorKind, details: ErrorDetails) {
    const { place, got, allowed, cause } = details;
    const text = [
      place === undefined ? undefined : `${place}:`,
      kind.summary,
      got === undefined ? undefined : `Got ${got}.`,
      allowed === undefined ? undefined : `Allowed: ${allowed}.`,
    ];
    super(text.filter((part) => part !== undefined).join(' '), { cause });
    this.name = 'SluiceError';
    this.code = code;
    this.retryable = kind.retryable;
    this.place = place;
    this.got = got;
    this.allowed = allowed;
  }
}

export function isSluiceError(value: unknown): value is SluiceError {
  return typeof value === 'object' && value !== null && brand in value;
}

/** Anything thrown, as an Error. */
export function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

/** One line: the message of the error and of its causes, outermost first. */
export function errorText(thrown: unknown): string {
  const parts: string[] = [];
  let current: unknown = thrown;
  for (let depth = 0; depth < 5 && current !== undefined && current !== null; depth += 1) {
    const error = toError(current);
    if (error.message !== '' && !parts.some((part) => part.includes(error.message))) parts.push(error.message);
    current = error.cause;
  }
  return parts.join(': ') || toError(thrown).name;
}

export interface ErrorTable<Code extends string> {
  readonly kinds: Readonly<Record<Code, ErrorKind>>;
  readonly create: (code: Code, details?: ErrorDetails) => SluiceError;
}

/**
 * Declares the error codes of one folder. Codes are UPPER_SNAKE, begin with the folder's subject, and are never reused. `stacks: false` for errors
 * that are values about a sender's input: a stack says nothing there and takes twice the time of all the rest.
 */
export function defineErrors<const Kinds extends Record<string, ErrorKind>>(
  kinds: Kinds,
  options: { readonly stacks: boolean } = { stacks: true },
): ErrorTable<keyof Kinds & string> {
  const create = (code: keyof Kinds & string, details: ErrorDetails = {}): SluiceError =>
    new SluiceError(code, kinds[code] as ErrorKind, details);
  return { kinds, create: options.stacks ? create : (code, details) => withoutStack(() => create(code, details)) };
}

/** Runs something that may make or throw errors whose stack nobody reads. */
export function withoutStack<Result>(run: () => Result): Result {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 0;
  try {
    return run();
  } finally {
    Error.stackTraceLimit = limit;
  }
}
