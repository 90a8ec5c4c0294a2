/** Objects for documents, with room for their fields in the object itself. */
import type { LogDocument } from '../schemas/messages.js';

type Fields = Record<string, unknown>;

/**
 * V8 turns an object into a hash table when more fields are added by computed names than it has room for, twice at
 * most; writing, reading and JSON.stringify then cost about twice as much. It takes the room from the assignments that
 * it finds in a constructor, and keeps as much of it as the first few objects use. So `room` is true for one object,
 * made at the start and thrown away. Where an engine does otherwise, only speed is lost.
 */
function Document(this: Fields, room: boolean): void {
  if (!room) return;
  this['a0'] = this['a1'] = this['a2'] = this['a3'] = this['a4'] = this['a5'] = this['a6'] = this['a7'] = 0;
  this['b0'] = this['b1'] = this['b2'] = this['b3'] = this['b4'] = this['b5'] = this['b6'] = this['b7'] = 0;
  this['c0'] = this['c1'] = this['c2'] = this['c3'] = this['c4'] = this['c5'] = this['c6'] = this['c7'] = 0;
  this['d0'] = this['d1'] = this['d2'] = this['d3'] = this['d4'] = this['d5'] = this['d6'] = this['d7'] = 0;
}
/** Documents are plain objects to everybody else. */
Document.prototype = Object.prototype;

const create = Document as unknown as new (room: boolean) => LogDocument;
/** V8 decides how much room to keep after the first seven. */
const firstObjects = 8;
for (let made = 0; made < firstObjects; made += 1) new create(made === 0);

export function newDocument(): LogDocument {
  return new create(false);
}
