/** White space around JSON texts, as bytes. */

/** Without white space and NUL bytes at both ends. */
export function trim(bytes: Buffer): Buffer {
  let start = 0;
  let end = bytes.length;
  while (start < end && isSpace(bytes[start])) start += 1;
  while (end > start && isSpace(bytes[end - 1])) end -= 1;
  return start === 0 && end === bytes.length ? bytes : bytes.subarray(start, end);
}

/** NUL bytes count: they end the frames of some senders. */
export function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09 || byte === 0x00;
}
