/**
 * Which member of a group a process is, kept in its data folder: one small file a consumer. After a kill the
 * coordinator holds the dead member's partitions for its session; whoever is started again on the same folder and finds
 * that process gone asks the coordinator to let the member go.
 *
 * Nothing rests on these files: without one the session is waited for, and a member that was let go wrongly is refused
 * at its next heartbeat and joins anew. So they are not synced; a machine that lost its power is away for longer than a
 * session.
 */
import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCertainlyEnded, parseOwner, thisProcess, type Owner } from '../../owner.js';

/** Files of processes that nobody can ask for (another container, an earlier boot) are removed after this. */
const keepMs = 24 * 3_600_000;

interface Note extends Owner {
  readonly group: string;
  readonly member: string;
}

interface MemberNotes {
  /** Before the coordinator is asked to take this member in. */
  joinsAs(member: string): Promise<void>;
  /** The member has left by itself. */
  left(): Promise<void>;
  /** Members of this group whose processes were on this folder and have certainly ended. */
  predecessors(): Promise<readonly string[]>;
  /** The coordinator knows that they have. */
  forget(members: readonly string[]): Promise<void>;
}

export const noMemberNotes: MemberNotes = {
  joinsAs: async () => undefined,
  left: async () => undefined,
  predecessors: async () => [],
  forget: async () => undefined,
};

export function createMemberNotes(dataFolder: string, group: string): MemberNotes {
  const folder = join(dataFolder, 'members');
  const prefix = `${createHash('sha256').update(group).digest('hex').slice(0, 16)}-`;
  const me = thisProcess();
  const file = join(folder, `${prefix}${me.id}.json`);
  const found = new Map<string, string>();
  let noted: string | undefined;
  return {
    async joinsAs(member) {
      if (member === noted) return;
      await mkdir(folder, { recursive: true });
      const draft = `${file}.${randomUUID()}`;
      await writeFile(draft, JSON.stringify({ ...me, group, member } satisfies Note));
      await rename(draft, file);
      noted = member;
    },
    async left() {
      noted = undefined;
      await rm(file, { force: true });
    },
    async predecessors() {
      const names = await readdir(folder).catch((): string[] => []);
      for (const name of names.filter((candidate) => candidate.startsWith(prefix))) {
        const path = join(folder, name);
        const note = await readNote(path);
        if (note !== undefined && note.group === group && hasCertainlyEnded(note)) found.set(note.member, path);
        else if (path !== file && (await isOld(path))) await rm(path, { force: true });
      }
      return [...found.keys()];
    },
    async forget(members) {
      for (const member of members) {
        const path = found.get(member);
        if (path !== undefined) await rm(path, { force: true });
        found.delete(member);
      }
    },
  };
}

async function readNote(path: string): Promise<Note | undefined> {
  const content = await readFile(path, 'utf8').catch(() => '');
  const note = parseOwner(content) as Partial<Note> | undefined;
  return typeof note?.group === 'string' && typeof note.member === 'string' ? (note as Note) : undefined;
}

/** A process that lives writes its file only once; should it be removed, its successor waits for the session. */
async function isOld(path: string): Promise<boolean> {
  const modified = (await stat(path).catch(() => undefined))?.mtimeMs;
  return modified !== undefined && Date.now() - modified > keepMs;
}
