/**
 * Hosts on one machine: a network namespace each, with a link to the engines and a link to the senders that can be cut
 * one by one. Needs root and `ip`; everything that it makes carries a name of its own and is removed again.
 */
import { execFile, execFileSync } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);
const ip = (...parameters: readonly string[]): Promise<unknown> => run('ip', [...parameters]);

type Link = 'engines' | 'senders';

export interface Host {
  /** For `ProgramOptions.within`. */
  readonly within: readonly string[];
  /** Where senders reach it. */
  readonly address: string;
  /** As if the cable were pulled: nothing passes, and neither end is told. */
  cut(link: Link): Promise<void>;
  mend(link: Link): Promise<void>;
}

export interface Network {
  /** Where hosts reach the engines, and where those listen. */
  readonly engines: string;
  readonly senders: string;
  host(name: string): Promise<Host>;
  close(): Promise<void>;
}

/** Why there can be no network of the test's own; undefined when there can be one. */
export function missingForNetwork(): string | undefined {
  const probe = `sluice-probe-${process.pid}`;
  try {
    execFileSync('ip', ['netns', 'add', probe], { stdio: 'ignore' });
    execFileSync('ip', ['netns', 'del', probe], { stdio: 'ignore' });
    return undefined;
  } catch {
    return 'network namespaces (root, and the command ip)';
  }
}

export async function createNetwork(): Promise<Network> {
  const block = 100 + (process.pid % 100);
  const near: Record<Link, string> = { engines: `10.${block}.0.1`, senders: `10.${block}.1.1` };
  const made: { readonly name: string; readonly namespace: string }[] = [];
  for (const address of Object.values(near)) await ip('addr', 'replace', `${address}/32`, 'dev', 'lo');

  const connect = async (
    namespace: string,
    index: number,
    place: number,
    link: Link,
  ): Promise<{ device: string; far: string }> => {
    const device = `s${process.pid % 100_000}${link[0]}${index}`;
    const far = `10.${block}.${place}.${index + 2}`;
    await ip('link', 'add', device, 'type', 'veth', 'peer', 'name', link, 'netns', namespace);
    await ip('-n', namespace, 'addr', 'add', `${far}/32`, 'dev', link);
    await ip('-n', namespace, 'link', 'set', link, 'up');
    await ip('-n', namespace, 'route', 'replace', near[link], 'dev', link, 'src', far);
    await up(device, far, link);
    return { device, far };
  };
  const up = async (device: string, far: string, link: Link): Promise<void> => {
    await ip('link', 'set', device, 'up');
    await ip('route', 'replace', far, 'dev', device, 'src', near[link]);
  };

  return {
    engines: near.engines,
    senders: near.senders,
    async host(name) {
      const namespace = `sluice-${process.pid}-${name}`;
      const index = made.length;
      await ip('netns', 'add', namespace);
      made.push({ name, namespace });
      await ip('-n', namespace, 'link', 'set', 'lo', 'up');
      const links = {
        engines: await connect(namespace, index, 0, 'engines'),
        senders: await connect(namespace, index, 1, 'senders'),
      };
      return {
        within: ['ip', 'netns', 'exec', namespace],
        address: links.senders.far,
        cut: async (link) => {
          await ip('link', 'set', links[link].device, 'down');
        },
        mend: (link) => up(links[link].device, links[link].far, link),
      };
    },
    async close() {
      for (const { namespace } of made) await ip('netns', 'del', namespace).catch(() => undefined);
      for (const address of Object.values(near))
        await ip('addr', 'del', `${address}/32`, 'dev', 'lo').catch(() => undefined);
    },
  };
}
