/**
 * A process to be killed: a member of a group that the coordinator would wait ten minutes for. Prints its member id.
 * Arguments: brokers, data folder, group, topic.
 */
import { writeSync } from 'node:fs';
import kafkajs from 'kafkajs';
import { createMemberNotes } from '../../../topics/kafka/consuming/member-notes.js';

const [, , brokers = '', dataFolder = '', group = '', topic = ''] = process.argv;
const notes = createMemberNotes(dataFolder, group);
const memberTimes = { sessionTimeout: 600_000, rebalanceTimeout: 600_000, heartbeatInterval: 500 };
const consumer = new kafkajs.Kafka({ brokers: brokers.split(','), logLevel: kafkajs.logLevel.NOTHING }).consumer({
  groupId: group,
  ...memberTimes,
});
await consumer.connect();
await consumer.subscribe({ topics: [topic], fromBeginning: true });
consumer.on(consumer.events.GROUP_JOIN, ({ payload: { memberId } }) => {
  // It cannot read what is compressed.
  consumer.pause([{ topic }]);
  void notes.joinsAs(memberId).then(() => writeSync(1, `${memberId}\n`));
});
await consumer.run({ eachBatch: async () => undefined });
