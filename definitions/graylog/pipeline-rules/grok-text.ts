/** Grok patterns of Graylog → as the action grok takes them. */

const reference = /%\{([^{}:;]*)(?::([^{}:;]*))?(?:[:;]([^{}]*))?\}/g;

/** A group with a name of its own makes no field here. */
export const hasNamedGroup = (source: string): boolean => /\(\?P?<[A-Za-z]/.test(source);
export const namedGroupProblem = 'A group with a name makes no field in a grok pattern here; write %{PATTERN:field}.';

interface GrokChoice {
  /** Goes before each name. */
  readonly prefix?: string | undefined;
  /** False: parts without a name of their own get the name of their pattern. */
  readonly onlyNamed: boolean;
}

/** `%{NAME:field;int}` and `%{NAME:field:int}` are the same; what is called UNWANTED makes no field. */
export function grokText(source: string, { prefix = '', onlyNamed }: GrokChoice): string {
  return source.replaceAll(reference, (_, name: string, field: string | undefined, kind: string | undefined) => {
    const called = field === undefined || field === '' ? (onlyNamed ? undefined : name) : field;
    return called === undefined || called === 'UNWANTED'
      ? `%{${name}}`
      : `%{${name}:${prefix}${called}${kind === undefined || kind === '' ? '' : `:${kind}`}}`;
  });
}
