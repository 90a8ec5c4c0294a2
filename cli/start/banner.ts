/** What the terminal says when the program runs, and what a newcomer does first. */
import { formatBytes } from '../../core/bytes.js';
import { packageVersion } from '../../core/process/package-root.js';
import { topicsLocation } from '../../program/topic-log.js';
import type { Config } from '../../schemas/config/config.js';
import type { ProgramFacts } from '../../program/workers/contract.js';

interface BannerFacts extends ProgramFacts {
  readonly workers: number;
  readonly adminPort: number | undefined;
}

export function banner(config: Config, facts: BannerFacts): string {
  const lines = [`Sluice ${packageVersion} is running.`, ''];
  const line = (title: string, text: string): void => void lines.push(`  ${title.padEnd(12)} ${text}`);
  for (const { protocol, host, port, tls } of facts.receivers)
    line(`${protocol}${tls ? ' (TLS)' : ''}`, `${host}:${port}`);
  if (facts.adminPort !== undefined)
    line('admin', `http://${config.admin.host}:${facts.adminPort}/metrics, /health/ready`);
  if (facts.api !== undefined)
    line('API', `${facts.api.tls ? 'https' : 'http'}://${facts.api.host}:${facts.api.port}/api, /api/api-browser`);
  line('topics', topicsLocation(config));
  if (facts.stores) {
    const cap = facts.maxTotalBytes === undefined ? '' : ` (at most ${formatBytes(facts.maxTotalBytes)} in all)`;
    line(
      'index sets',
      config.store.kind === 'opensearch'
        ? `OpenSearch at ${config.store.opensearch.nodes.join(', ')}`
        : `${config.data_folder}/indices${cap}`,
    );
  }
  line('inflater', facts.inflater);
  if (facts.workers > 1) line('workers', `${facts.workers} processes`);
  return `${[...lines, ...firstSteps(facts)].join('\n')}\n`;
}

/** Also in a quiet start: nothing else ever shows them. */
export function firstPasswordsText({ firstPasswords = [] }: Pick<ProgramFacts, 'firstPasswords'>): string {
  const generated = firstPasswords.flatMap(({ username, password }) =>
    password === undefined ? [] : [`  ${username.padEnd(12)} ${password}`],
  );
  if (generated.length === 0) return '';
  return [
    'Users were made. Their first passwords are shown this once (lost: sluice users reset-first-password <name>):',
    '',
    ...generated,
    '',
    '',
  ].join('\n');
}

function firstSteps({ receivers, stores }: BannerFacts): string[] {
  const tcp = receivers.find(({ protocol, tls }) => protocol === 'gelf-tcp' && !tls);
  const http = receivers.find(({ protocol, tls }) => protocol === 'gelf-http' && !tls);
  const message = '{"version":"1.1","host":"my-host","short_message":"hello sluice"}';
  const lines: string[] = [];
  if (http !== undefined)
    lines.push('', 'Send a first message:', `  curl -s -d '${message}' http://127.0.0.1:${http.port}/gelf`);
  else if (tcp !== undefined)
    lines.push('', 'Send a first message:', `  printf '${message}\\0' > /dev/tcp/127.0.0.1/${tcp.port}`);
  if (stores) lines.push('Find it (in a second terminal, in this folder):', "  npx sluice search 'hello'");
  return lines;
}
