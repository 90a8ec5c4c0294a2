import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { defineEvents } from '../../core/events.js';
import { createLog, type Log } from '../../core/log.js';
import { eventsReference } from '../../core/reference.js';

const events = defineEvents({
  batchRejected: {
    level: 'warn',
    message: 'a batch was rejected and is delivered again',
    fields: { topic: 'text', partition: 'number', error: 'text?' },
  },
  formatMigrated: {
    level: 'info',
    message: (format, version) => `the ${format} is of version ${version}`,
    fields: { members: 'texts' },
  },
  programStopped: { level: 'info', message: 'stopped' },
});

function lineOf(write: (log: Log) => void): Record<string, unknown> {
  const file = join(mkdtempSync(join(tmpdir(), 'sluice-events-')), 'log');
  const log = createLog('debug', file);
  write(log);
  const { time, ...line } = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
  t.type(time, 'string');
  return line;
}

t.test('an event is one line with its name, level, fields and message', (t) => {
  t.strictSame(
    lineOf((log) => events.batchRejected(log, { topic: 'messages', partition: 2 })),
    {
      level: 40,
      event: 'batch_rejected',
      topic: 'messages',
      partition: 2,
      msg: 'a batch was rejected and is delivered again',
    },
  );
  t.end();
});

t.test('the message may have varying parts', (t) => {
  t.strictSame(
    lineOf((log) => events.formatMigrated(log, { members: ['a'] }, 'data folder', '2')),
    { level: 30, event: 'format_migrated', members: ['a'], msg: 'the data folder is of version 2' },
  );
  t.end();
});

t.test('an event may have no fields', (t) => {
  t.strictSame(lineOf(events.programStopped), { level: 30, event: 'program_stopped', msg: 'stopped' });
  t.end();
});

t.test('fields are typed by their declaration', (t) => {
  const unused = (log: Log): void => {
    // @ts-expect-error a field is missing
    events.batchRejected(log, { topic: 'messages' });
    // @ts-expect-error a field has another type
    events.batchRejected(log, { topic: 'messages', partition: '2' });
    // @ts-expect-error a field is not declared
    events.batchRejected(log, { topic: 'messages', partition: 2, place: 'here' });
    // @ts-expect-error the message lacks a part
    events.formatMigrated(log, { members: [] }, 'data folder');
  };
  t.type(unused, 'function');
  t.end();
});

t.test('the reference page lists them by folder and name', (t) => {
  const page = eventsReference(new Map([['core/events.ts', events]]));
  t.match(page, '## core/events.ts');
  t.match(
    page,
    '| `batch_rejected` | warn | a batch was rejected and is delivered again | `topic`, `partition`, `error`? |',
  );
  t.match(page, '| `format_migrated` | info | the … is of version … | `members` |');
  t.match(page, '| `program_stopped` | info | stopped |  |');
  t.end();
});
