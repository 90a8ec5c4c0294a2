/** Cells of the engine's answers, checked where they are read: each query says what its columns hold. */
import { storeErrors } from '../../errors.js';

export function numberCell(cell: unknown): number {
  if (typeof cell === 'number') return cell;
  throw wrongCell('a number', cell);
}

export function textCell(cell: unknown): string {
  if (typeof cell === 'string') return cell;
  throw wrongCell('a text', cell);
}

export const numberCellOrNull = (cell: unknown): number | null => (cell === null ? null : numberCell(cell));

export const textCellOrNull = (cell: unknown): string | null => (cell === null ? null : textCell(cell));

function wrongCell(expected: string, cell: unknown): Error {
  return storeErrors.create('STORE_UNAVAILABLE', {
    place: 'embedded store',
    got: `a cell of type ${typeof cell}`,
    allowed: expected,
  });
}
