/** Verbs that work beside the running program: rules, config, load. */
import type { Command } from 'commander';
import { configOption, examples, quietOption, settings, wholeNumber } from '../options.js';
import type { LoadCommandOptions } from './load.js';

export function addToolVerbs(program: Command): void {
  addRules(program);
  addConfig(program);
  addLoad(program);
}

function addRules(program: Command): void {
  const rules = program.command('rules').description('rule files: check them, try them on a message, ask why');
  const folderOf = (flags: { config?: string; folder?: string }): string =>
    flags.folder ?? settings(flags).config.rules.folder;
  const verb = (name: string, description: string): Command =>
    rules
      .command(name)
      .description(description)
      .addOption(configOption())
      .option('--folder <path>', 'folder of rule files (default: rules.folder of the settings)')
      .option('--json', 'as JSON');
  verb('check', 'say what is wrong, with file, line and column; exit code 2 when something is')
    .addOption(quietOption())
    .addHelpText(
      'after',
      examples(
        'sluice rules check',
        'sluice rules check --folder ./rules --json',
        'sluice rules check --quiet && echo fine',
      ),
    )
    .action(async (flags: RuleFlags & { quiet?: boolean }) => {
      const { rulesCheck } = await import('./rules.js');
      tell(await rulesCheck({ ...flags, folder: folderOf(flags) }), flags);
    });
  for (const [name, description, run] of [
    ['test', 'what becomes of a message', 'rulesTest'],
    ['explain', 'every rule and condition with its verdict for a message', 'rulesExplain'],
  ] as const) {
    verb(
      `${name} <message>`,
      `${description}; <message> is a file with GELF or a stored document, or - for standard input`,
    )
      .option('--receiver <name>', 'the receiver it is taken to come from')
      .addHelpText(
        'after',
        examples(
          `sluice rules ${name} message.json`,
          `echo '{"short_message":"hello"}' | sluice rules ${name} - --receiver gelf-tcp --json`,
        ),
      )
      .action(async (file: string, flags: RuleFlags) => {
        const verbs = await import('./rules.js');
        tell(await verbs[run]({ ...flags, folder: folderOf(flags), file, input: process.stdin }), flags);
      });
  }
}

interface RuleFlags {
  readonly config?: string;
  readonly folder?: string;
  readonly json?: boolean;
  readonly receiver?: string;
}

function addConfig(program: Command): void {
  const config = program.command('config').description('the settings: check them, show what is in force');
  config
    .command('check')
    .description('say what is wrong, with file and line; exit code 2 when something is')
    .addOption(configOption())
    .option('--json', 'as JSON')
    .addOption(quietOption())
    .addHelpText('after', examples('sluice config check', 'sluice config check -c sluice.yaml --json'))
    .action(async (flags: { config?: string; json?: boolean; quiet?: boolean }) => {
      const { configCheck } = await import('./config.js');
      tell(configCheck({ file: flags.config, environment: process.env, json: flags.json }), flags);
    });
  config
    .command('show')
    .description('all settings as they apply, secrets hidden')
    .addOption(configOption())
    .option('--json', 'as JSON')
    .addHelpText('after', examples('sluice config show', 'sluice config show -c sluice.yaml --json'))
    .action(async (flags: { config?: string; json?: boolean }) => {
      const { configShow } = await import('./config.js');
      tell(configShow({ file: flags.config, environment: process.env, json: flags.json }));
    });
}

/** `quiet`: only what is wrong. JSON is an answer on standard output, whatever it says. */
function tell(
  result: { readonly text: string; readonly exitCode: number },
  flags: { readonly json?: boolean; readonly quiet?: boolean } = {},
): void {
  if (result.exitCode !== 0 || flags.quiet !== true || flags.json === true)
    (result.exitCode === 0 || flags.json === true ? process.stdout : process.stderr).write(`${result.text}\n`);
  process.exitCode = result.exitCode;
}

function addLoad(program: Command): void {
  program
    .command('load')
    .description('send synthetic Kubernetes-like traffic; with --verify, prove that nothing is missing or doubled')
    .addOption(configOption())
    .option('--rate <n>', 'messages a second; 0: as fast as the target takes them', wholeNumber, 1000)
    .option('--for <duration>', 'how long: 60s, 5m', '60s')
    .option('--count <n>', 'how many, instead of how long', wholeNumber)
    .option('--transport <kind>', 'tcp, tls, udp, http or mix', 'tcp')
    .option('--connections <n>', 'connections of each transport', wholeNumber, 4)
    .option('--host <address>', 'where to', '127.0.0.1')
    .option('--port <n>', 'port of the transport (default: 12201; HTTP 12202)', wholeNumber)
    .option('--tls-port <n>', 'port of the TLS receiver', wholeNumber)
    .option('--http-port <n>', 'port of the HTTP receiver', wholeNumber)
    .option('--ca <file>', 'certificate authority of TLS targets, PEM; without it certificates are not verified')
    .option('--token <token>', 'bearer token of the HTTP receiver')
    .option('--seed <n>', 'seed of the generator', wholeNumber, 1)
    .option('--bytes <n>', 'average size of a message', wholeNumber, 420)
    .option(
      '--verify',
      'compare what was sent with the topic and the store; exit code 1 when an accepted message is missing or doubled',
    )
    .option('--wait <duration>', 'how long the verification waits for the pipeline', '60s')
    .option('--json', 'the report as JSON')
    .option('-q, --quiet', 'no progress bar')
    .addHelpText(
      'after',
      examples(
        'sluice load --rate 5000 --for 60s --verify',
        'sluice load --count 100000 --rate 0 --transport mix --json',
        'sluice load --transport tls --port 12203 --ca ca.pem --quiet',
      ),
    )
    .action(async (flags: LoadCommandOptions & { config?: string; verify?: boolean }) => {
      const { runLoadCommand } = await import('./load.js');
      const interrupted = new AbortController();
      process.once('SIGINT', () => interrupted.abort());
      const terminal = {
        print: (text: string) => void process.stdout.write(`${text}\n`),
        signal: interrupted.signal,
        progress: process.stderr,
      };
      const { openVerifySources } = await import('./verify-sources.js');
      const opened = flags.verify === true ? await openVerifySources(settings(flags).config) : undefined;
      try {
        process.exitCode = await runLoadCommand(flags, terminal, opened?.sources);
      } finally {
        await opened?.stop();
      }
    });
}
