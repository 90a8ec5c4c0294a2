/** Names joined by commas, as flags give them. */
export function namesOf(text: string | undefined): readonly string[] | undefined {
  return text
    ?.split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}
