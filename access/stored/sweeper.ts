/**
 * Removes sessions and tokens that have ended, and the oldest sessions of a user who opens them and never closes one.
 */
import { errorText } from '../../core/errors.js';
import type { Log } from '../../core/log.js';
import type { People } from '../rights/people.js';
import type { SessionRecord, TokenRecord } from './records.js';
import type { Secrets } from './secrets.js';
import { accessEvents } from '../events.js';

/** They are refused from their end on; removing them only frees room. */
const sweepMs = 5 * 60_000;
const maxSessionsOfUser = 1_000;

interface Sweeper {
  start(): void;
  sweep(): Promise<void>;
  stop(): Promise<void>;
}

interface SweeperOptions {
  readonly sessions: Secrets<SessionRecord>;
  readonly tokens: Secrets<TokenRecord>;
  readonly people: People;
  readonly defaultTimeoutMs: number;
  readonly log: Log;
  readonly now: () => number;
}

export function createSweeper({ sessions, tokens, people, defaultTimeoutMs, log, now }: SweeperOptions): Sweeper {
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  const sweep = async (): Promise<void> => {
    const newestFirst = [...(await sessions.list())].sort((a, b) => b.value.used_at - a.value.used_at);
    const counts = new Map<string, number>();
    for (const listed of newestFirst) {
      const { user_id: userId, used_at: usedAt } = listed.value;
      const count = (counts.get(userId) ?? 0) + 1;
      counts.set(userId, count);
      const timeout = people.byId(userId)?.session_timeout_ms ?? defaultTimeoutMs;
      if (now() - usedAt >= timeout || count > maxSessionsOfUser) await sessions.removeListed(listed);
    }
    for (const listed of await tokens.list()) {
      const { user_id: userId, expires_at: expiresAt } = listed.value;
      const orphan = people.byId(userId) === undefined;
      if (orphan) await people.users.refresh();
      if ((orphan && people.byId(userId) === undefined) || (expiresAt !== undefined && expiresAt <= now()))
        await tokens.removeListed(listed);
    }
  };
  return {
    start() {
      timer = setInterval(() => {
        running = sweep().catch((error: unknown) =>
          accessEvents.endedSessionsRetained(log, { error: errorText(error) }),
        );
      }, sweepMs).unref();
    },
    sweep,
    async stop() {
      clearInterval(timer);
      await running;
    },
  };
}
