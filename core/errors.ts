/**
 * Every error that Sluice throws or reports. A folder declares its codes once, as data, with `defineErrors`;
 * the reference page `docs/reference/errors.md` is generated from these tables.
 */

export interface ErrorKind {
  /** False: the same data can never pass. True: the same call may pass later. */
  readonly retryable: boolean;
  /** What happened and what to do next, one sentence; no values. */
  readonly summary: string;
  /**
   * HTTP status, declared where the text is meant for whoever asked. Without one the error is ours: the answer is 503
   * when it is retryable and 500 when it is not, and its text goes to the log only.
   */
  readonly status?: number;
  /** 2 where the caller has to change the request. Without it a command that fails ends with 1. */
  readonly exitCode?: 2;
}

export interface ErrorDetails {
  /** Where: file:line:column, peer address, topic and partition, index, field. */
  readonly place?: string | undefined;
  /** What came. Shortened by the caller; never a secret. */
  readonly got?: string | undefined;
  /** What is allowed, with the setting that changes it. */
  readonly allowed?: string | undefined;
  readonly cause?: unknown;
  /** The whole text, in place of the summary and its details: for answers whose wording is a contract. */
  readonly text?: string | undefined;
}

const brand = Symbol.for('sluice.error');

export class SluiceError extends Error {
  readonly code: string;
  readonly retryable: boolean;
  readonly place: string | undefined;
  readonly got: string | undefined;
  readonly allowed: string | undefined;
  readonly status: number | undefined;
  readonly exitCode: 1 | 2;
  readonly [brand] = true;

  constructor(code: string, kind: ErrorKind, details: ErrorDetails) {
    const { place, got, allowed, cause, text } = details;
    super(text ?? composedText(kind.summary, details), { cause });
    this.name = 'SluiceError';
    this.code = code;
    this.retryable = kind.retryable;
    this.place = place;
    this.got = got;
    this.allowed = allowed;
    this.status = kind.status;
    this.exitCode = kind.exitCode ?? 1;
  }
}

function composedText(summary: string, { place, got, allowed }: ErrorDetails): string {
  const parts = [
    place === undefined ? undefined : `${place}:`,
    summary,
    got === undefined ? undefined : `Got ${got}.`,
    allowed === undefined ? undefined : `Allowed: ${allowed}.`,
  ];
  return parts.filter((part) => part !== undefined).join(' ');
}

export function isSluiceError(value: unknown): value is SluiceError {
  return typeof value === 'object' && value !== null && brand in value;
}

/** True when the text of an error is meant for whoever asked. */
export function isForAsker(error: unknown): error is SluiceError & { readonly status: number } {
  return isSluiceError(error) && error.status !== undefined;
}

/** Anything thrown, as an Error. */
export function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

/**
 * The code of a thrown error: of the system (ENOENT), of Node.js (ERR_...) or our own. Undefined for anything without
 * one.
 */
export function errorCode(thrown: unknown): string | undefined {
  if (typeof thrown !== 'object' || thrown === null || !('code' in thrown)) return undefined;
  return typeof thrown.code === 'string' ? thrown.code : undefined;
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

interface ErrorTable<Code extends string> {
  readonly kinds: Readonly<Record<Code, ErrorKind>>;
  readonly create: (code: Code, details?: ErrorDetails) => SluiceError;
}

/**
 * Declares the error codes of one folder. Codes are UPPER_SNAKE, begin with the folder's subject, and are never reused.
 * `stacks: false` for errors that are values about a sender's input: a stack says nothing there and takes twice the
 * time of all the rest.
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
