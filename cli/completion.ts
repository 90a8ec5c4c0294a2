/** `sluice completion <shell>`: a script for the shell, made from the verbs themselves. */
import { last } from '../core/at.js';
import { Argument, type Command } from 'commander';
import { examples } from './options.js';

const shells = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof shells)[number];

/** A verb by its words after `sluice`, with what may come next. */
interface Verb {
  readonly path: readonly string[];
  readonly words: readonly { readonly word: string; readonly description: string }[];
}

export function addCompletion(program: Command): void {
  program
    .command('completion')
    .description('print a script that completes verbs and options: source <(npx sluice completion bash)')
    .addHelpText('after', examples('sluice completion bash', 'sluice completion fish'))
    .addArgument(new Argument('<shell>', 'which shell').choices([...shells]))
    .action((shell: Shell) => void process.stdout.write(completionScript(program, shell)));
}

export function completionScript(program: Command, shell: Shell): string {
  const verbs = verbsOf(program, []);
  switch (shell) {
    case 'bash':
      return bashScript(verbs);
    case 'zsh':
      return `autoload -U +X bashcompinit && bashcompinit\n${bashScript(verbs)}`;
    case 'fish':
      return fishScript(verbs);
  }
}

function verbsOf(command: Command, path: readonly string[]): Verb[] {
  const words = [
    ...command.commands.map((one) => ({ word: one.name(), description: one.description() })),
    ...command.options.flatMap((option) =>
      option.long === undefined || option.long === null ? [] : [{ word: option.long, description: option.description }],
    ),
    ...command.registeredArguments
      .flatMap((argument) => argument.argChoices ?? [])
      .map((word) => ({ word, description: '' })),
    { word: '--help', description: 'what the verb does and takes' },
  ];
  return [{ path, words }, ...command.commands.flatMap((one) => verbsOf(one, [...path, one.name()]))];
}

/** The longest verb that the words before the cursor begin with decides; options between are skipped. */
function bashScript(verbs: readonly Verb[]): string {
  const cases = verbs
    .filter(({ path }) => path.length > 0)
    .map(
      ({ path, words }) =>
        `      '${path.join(' ')}') found="$verb"; words='${words.map(({ word }) => word).join(' ')}' ;;`,
    );
  return `# bash completion of sluice
_sluice() {
  local verb='' found='' word words='${verbs[0]?.words.map(({ word }) => word).join(' ') ?? ''}' place
  for ((place = 1; place < COMP_CWORD; place++)); do
    word="\${COMP_WORDS[place]}"
    [[ $word == -* ]] && continue
    verb="\${found:+$found }$word"
    case $verb in
${cases.join('\n')}
    esac
  done
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
  [[ \${#COMPREPLY[@]} -eq 0 ]] && COMPREPLY=($(compgen -f -- "\${COMP_WORDS[COMP_CWORD]}"))
  return 0
}
complete -F _sluice sluice
`;
}

const quoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

function fishScript(verbs: readonly Verb[]): string {
  const lines = verbs.flatMap(({ path, words }) =>
    words.map(({ word, description }) => {
      const below = verbs
        .filter(
          (other) => other.path.length === path.length + 1 && path.every((part, place) => other.path[place] === part),
        )
        .map((other) => last(other.path));
      const here = path.map((part) => `__fish_seen_subcommand_from ${part}`);
      const conditions = [...here, ...(below.length > 0 ? [`not __fish_seen_subcommand_from ${below.join(' ')}`] : [])];
      const when = conditions.length > 0 ? ` -n ${quoted(conditions.join('; and '))}` : '';
      return `complete -c sluice${when} ${word.startsWith('--') ? `-l ${word.slice(2)}` : `-f -a ${word}`} -d ${quoted(description)}`;
    }),
  );
  return `# fish completion of sluice\n${lines.join('\n')}\n`;
}
