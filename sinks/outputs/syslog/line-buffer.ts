/**
 * Lines on their way into one parcel. The room is used again for each parcel, so what is taken out of it is a copy of
 * exactly its size.
 */

/** A parcel's lines seldom take more. */
const usualBytes = 256 * 1024;
/** Most bytes of one UTF-16 unit in UTF-8. */
const mostBytesEach = 3;
/** Room before a line for its length in digits and a space. */
const countRoom = 12;

interface LineBuffer {
  /** RFC 6587, 3.4.1: the length in bytes and a space before it. */
  addCounted(line: string): void;
  /** RFC 6587, 3.4.2: a newline behind it. */
  addEnded(line: string): void;
  /** All lines since the last call. */
  take(): Buffer;
}

export function createLineBuffer(): LineBuffer {
  let room = Buffer.allocUnsafeSlow(usualBytes);
  let used = 0;
  const reserve = (line: string): void => {
    const wanted = used + line.length * mostBytesEach + countRoom;
    if (wanted <= room.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(wanted, room.length * 2));
    room.copy(larger, 0, 0, used);
    room = larger;
  };
  return {
    addCounted(line) {
      reserve(line);
      // A line of ASCII is as long in bytes; of any other the digits are put right afterwards.
      const begin = used;
      used = putCount(room, used, line.length);
      const written = room.write(line, used);
      if (written !== line.length) {
        const text = used;
        used = putCount(room, begin, written);
        if (used !== text) used = begin + room.write(`${written} ${line}`, begin) - written;
      }
      used += written;
    },
    addEnded(line) {
      reserve(line);
      used += room.write(line, used);
      room[used] = 0x0a;
      used += 1;
    },
    take() {
      const taken = Buffer.allocUnsafeSlow(used);
      room.copy(taken, 0, 0, used);
      used = 0;
      if (room.length > usualBytes) room = Buffer.allocUnsafeSlow(usualBytes);
      return taken;
    },
  };
}

/** Writes the digits of a length and a space; returns the position behind. */
function putCount(target: Buffer, at: number, length: number): number {
  let digits = 1;
  for (let rest = length; rest >= 10; rest = Math.floor(rest / 10)) digits += 1;
  let rest = length;
  for (let place = at + digits - 1; place >= at; place -= 1) {
    target[place] = 0x30 + (rest % 10);
    rest = Math.floor(rest / 10);
  }
  target[at + digits] = 0x20;
  return at + digits + 1;
}
