import kafkajs from 'kafkajs';

/** Deletes topics and groups whose name holds the suffix. */
export async function removeAll(brokers: string[], suffix: string): Promise<void> {
  const admin = new kafkajs.Kafka({ brokers, logLevel: kafkajs.logLevel.NOTHING }).admin();
  await admin.connect();
  const topics = (await admin.listTopics()).filter((name) => name.includes(suffix));
  if (topics.length > 0) await admin.deleteTopics({ topics });
  const groups = (await admin.listGroups()).groups
    .map(({ groupId }) => groupId)
    .filter((name) => name.includes(suffix));
  if (groups.length > 0) await admin.deleteGroups(groups).catch(() => undefined);
  await admin.disconnect();
}
