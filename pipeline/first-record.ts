/** The first record of a partition from an offset on. */
import type { ConsumedRecord, TopicLog } from '../topics/contract.js';

class FirstRead extends Error {
  readonly record: ConsumedRecord | undefined;

  constructor(record: ConsumedRecord | undefined) {
    super('read');
    this.record = record;
  }
}

/** A read goes to the log end unless its callback throws. */
export async function firstRecord(
  topics: TopicLog,
  topic: string,
  offset: number,
): Promise<ConsumedRecord | undefined> {
  try {
    await topics.read(topic, 0, offset, (records) => {
      throw new FirstRead(records[0]);
    });
  } catch (error) {
    if (!(error instanceof FirstRead)) throw error;
    return error.record;
  }
  return undefined;
}
