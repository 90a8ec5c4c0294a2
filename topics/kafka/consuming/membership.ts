/** One consumer's membership of its group, over the restarts of its process. */
import type { Kafka } from 'kafkajs';
import { errorText } from '../../../core/errors.js';
import { leaveFor } from './leave-group.js';
import { createMemberNotes, noMemberNotes } from './member-notes.js';
import type { KafkaSettings } from '../options.js';
import { kafkaEvents } from '../events.js';

/** Nothing of it ever rejects: what fails is said, and costs the session of a dead member. */
export interface Membership {
  /** Before the group is joined. */
  begin(): Promise<void>;
  /** A JoinGroup is about to be sent; without an id the coordinator gives one. */
  joining(member: string): Promise<void>;
  joined(member: string): Promise<void>;
  /** The group was left in order. */
  end(): Promise<void>;
}

export function createMembership(kafka: Kafka, group: string, { dataFolder, log }: KafkaSettings): Membership {
  const notes = dataFolder === undefined ? noMemberNotes : createMemberNotes(dataFolder, group);
  let predecessors: readonly string[] = [];
  const note = async (member: string): Promise<void> => {
    await notes.joinsAs(member).catch((thrown: unknown) => {
      kafkaEvents.memberNotKept(log, { group, error: errorText(thrown) });
    });
  };
  const letGo = async (members: readonly string[]): Promise<void> => {
    try {
      await leaveFor(kafka, group, members);
      await notes.forget(members);
      kafkaEvents.membersReleased(log, { group, members });
    } catch (thrown: unknown) {
      kafkaEvents.sessionAwaited(log, { group, members, error: errorText(thrown) });
    }
  };
  return {
    async begin() {
      predecessors = await notes.predecessors();
    },
    async joining(member) {
      if (member !== '') await note(member);
      const members = predecessors;
      predecessors = [];
      if (members.length > 0) void letGo(members);
    },
    joined: note,
    end: () => notes.left().catch(() => undefined),
  };
}
