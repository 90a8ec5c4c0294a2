/** Topics that a test has made. */
import { Kafka, logLevel } from 'kafkajs';
import { kafkaBrokers } from '../engines.js';

/** Those with this prefix. */
export async function deleteTopics(prefix: string): Promise<void> {
  const admin = new Kafka({ brokers: [kafkaBrokers() as string], logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  try {
    const topics = (await admin.listTopics()).filter((topic) => topic.startsWith(prefix));
    if (topics.length > 0) await admin.deleteTopics({ topics });
  } finally {
    await admin.disconnect();
  }
}
