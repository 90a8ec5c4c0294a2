/** Parts of the protocol that a simulated world can leave out, to see that something then goes wrong. */
export const switches = {
  'rule-1': "the newest epoch decides instead of the offset's own",
  'rule-2': 'the partition record is written without compare-and-set',
  'rule-2-proof': 'a partition is taken over without a heartbeat after its record was read',
  'rule-3': 'a batch is written without asking whether the partition is still owned',
  'rule-4': 'cuts lie at the next untaken offset, whatever the log end',
  'rule-5': 'resends are not recognised',
  'rule-6': 'the store creates a missing index by itself',
  'rule-7': 'an index is deleted without waiting for the partitions',
  'rule-7-marks': 'a new partition does not read the marks again',
  'rule-7-former': 'what a former generation of a topic has parked does not hold an index',
  'rule-8': 'parked messages are drained to the newest index of their set',
  'rule-9': 'a new owner does not know what is parked',
  'rule-10': 'no tombstone stands for a refused message',
  'rule-10-id': 'the id of a dead letter holds the code',
  'rule-10-look': 'what met the id of a refused message is not looked at',
  'rule-10-stored': 'a message that is stored already becomes a dead letter when the store refuses it later',
  'letters-once':
    'a dead letter that stands twice in its topic is stored twice when its index set was rotated in between',
  'rule-11': "markers are not kept in the batch's transaction",
  'rule-11-generation': 'markers do not name the generation of the topic',
  'rule-12': 'nothing is flushed after a document that was there already',
  'rule-12-look': 'what was there already is flushed, and not looked at again',
  'rule-13': 'a replay chooses its target index anew each time',
} as const;

export type Switch = keyof typeof switches;

export const isSwitch = (name: string): name is Switch => Object.hasOwn(switches, name);
