/** One message that passed, as a line. */
import { escapeControls } from '../search/output.js';

export type TappedAnswer =
  | { readonly target: { readonly kind: string; readonly name: string } }
  | { readonly text: string; readonly peer?: string; readonly id?: string; readonly skipped: number };

export function tappedLine({ text, peer, id, skipped }: Exclude<TappedAnswer, { readonly target: unknown }>): string {
  const head = [skipped > 0 ? `(${skipped} more passed)` : '', peer ?? '', id ?? '']
    .filter((part) => part !== '')
    .join(' ');
  return `${head === '' ? '' : `${escapeControls(head)}  `}${escapeControls(text)}`;
}
