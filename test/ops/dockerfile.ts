/** The steps of a Dockerfile, stage by stage. */
import { DockerfileParser, ModifiableInstruction } from 'dockerfile-ast';

export interface Step {
  readonly kind: string;
  /** Without its options (`--from=`). */
  readonly text: string;
  readonly words: readonly string[];
  /** COPY --from. */
  readonly from: string | undefined;
  /** WORKDIR so far. */
  readonly folder: string;
}

/** By stage name; one without a name is called by its number. */
export function readDockerfile(text: string): ReadonlyMap<string, readonly Step[]> {
  const stages = new Map<string, Step[]>();
  let steps: Step[] = [];
  let folder = '/';
  for (const instruction of DockerfileParser.parse(text).getInstructions()) {
    const kind = instruction.getKeyword();
    const all = instruction.getArguments().map((argument) => argument.getValue());
    if (kind === 'FROM') {
      steps = [];
      folder = '/';
      stages.set(all[1] === 'AS' ? (all[2] as string) : String(stages.size), steps);
      continue;
    }
    if (kind === 'WORKDIR') folder = all[0] as string;
    const raw = (instruction.getRawArgumentsContent() ?? '').replaceAll(/\\\r?\n\s*/g, ' ');
    const list = /(\[.*\])\s*$/.exec(raw)?.[1];
    const flags = instruction instanceof ModifiableInstruction ? instruction.getFlags() : [];
    const from = flags.find((flag) => flag.getName() === 'from')?.getValue() ?? undefined;
    const words = list === undefined ? all.filter((word) => !word.startsWith('--')) : (JSON.parse(list) as string[]);
    steps.push({ kind, text: raw, words, from, folder });
  }
  return stages;
}
