/** Verbs about users, for whoever may open the control socket: also without any password of the API. */
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import type { Command } from 'commander';
import { connectControl } from './connect.js';
import { configOption, examples, settings } from './options.js';
import { escapeControls, safeJson } from './search/output.js';

interface Flags {
  readonly config?: string;
  readonly json?: boolean;
  readonly role?: readonly string[];
  readonly generate?: boolean;
}

interface UserLine {
  readonly username: string;
  readonly roles: readonly string[];
  readonly enabled: boolean;
  readonly external: boolean;
}

export function addUserVerbs(program: Command): void {
  const users = program
    .command('users')
    .description('users of the API: list them, make one, set a password that was lost')
    .addHelpText(
      'after',
      examples(
        'sluice users list',
        'sluice users create alice --role Reader --role Operator --generate',
        'sluice users reset-first-password Admin',
      ),
    );
  users
    .command('list')
    .description('users, with their roles')
    .addOption(configOption())
    .option('--json', 'as JSON')
    .action(async (flags: Flags) => {
      const answer = (await ask(flags, 'GET', '/users')) as { users: readonly UserLine[] };
      process.stdout.write(flags.json === true ? `${safeJson(answer.users, 2)}\n` : usersText(answer.users));
    });
  users
    .command('create')
    .description('make a user; the password is asked for, or read from standard input')
    .argument('<name>', 'name of the user')
    .addOption(configOption())
    .option(
      '--role <role>',
      'a role of the user; more than once for more',
      (role: string, before: readonly string[]) => [...before, role],
      [] as readonly string[],
    )
    .option('--generate', 'make a password and show it')
    .action(async (username: string, flags: Flags) => {
      tellPassword(
        await ask(flags, 'POST', '/users/create', { username, roles: flags.role, password: await newPassword(flags) }),
        `${username} was made.`,
      );
    });
  users
    .command('set-password')
    .description('set a password; the sessions of the user end')
    .argument('<name>', 'name of the user')
    .addOption(configOption())
    .option('--generate', 'make a password and show it')
    .action(async (username: string, flags: Flags) => {
      tellPassword(
        await ask(flags, 'POST', '/users/set-password', { username, password: await newPassword(flags) }),
        `The password of ${username} was set.`,
      );
    });
  users
    .command('reset-first-password')
    .description(
      'give a user that ships (Admin, Operator, AuditViewer) a new password, its roles, and the account back',
    )
    .argument('<name>', 'Admin, Operator or AuditViewer')
    .addOption(configOption())
    .action(async (username: string, flags: Flags) => {
      tellPassword(
        await ask(flags, 'POST', '/users/reset-first-password', { username }),
        `${username} is as after the first start.`,
      );
    });
}

function ask(flags: Flags, method: string, path: string, body?: unknown): Promise<unknown> {
  return connectControl(settings(flags).config).request(method, path, body);
}

function tellPassword(answer: unknown, text: string): void {
  const { password } = answer as { password?: string };
  process.stdout.write(
    `${escapeControls(text)}${password === undefined ? '' : ` Its password, shown this once: ${password}`}\n`,
  );
}

/** Undefined: one is made. A line of standard input otherwise, so that no password stands on the command line. */
async function newPassword({ generate }: Flags): Promise<string | undefined> {
  if (generate === true) return undefined;
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  if (process.stdin.isTTY) process.stderr.write('New password: ');
  const reader = createInterface({ input: process.stdin, output: silent, terminal: process.stdin.isTTY });
  try {
    for await (const line of reader) return line;
    return '';
  } finally {
    reader.close();
    if (process.stdin.isTTY) process.stderr.write('\n');
  }
}

function usersText(users: readonly UserLine[]): string {
  const lines = users.map(
    ({ username, roles, enabled, external }) =>
      `${escapeControls(username).padEnd(30)}${roles.map(escapeControls).join(', ')}${enabled ? '' : '  (disabled)'}${external ? '  (directory)' : ''}`,
  );
  return `${'user'.padEnd(30)}roles\n${lines.join('\n')}\n`;
}
