import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import t from 'tap';
import { currentVersion, formatVersions, type FormatVersion } from '../../core/formats/versions.js';
import { bringUpToDate, type MigrationSteps, type StampPlace } from '../../core/formats/migrate.js';
import { judgeStamp, type FormatStamp } from '../../core/formats/stamp.js';
import { silentLog } from '../../core/log.js';
import { packageVersion } from '../../core/process/package-root.js';
import { readGroup } from '../../topics/embedded/group-offsets.js';
import { node, testFolder } from '../program.js';

const example: FormatVersion = {
  name: 'example',
  where: '',
  shared: false,
  oldest: 0,
  older: '',
  newer: '',
  versions: [
    { version: 1, minimumReader: 1, since: '0.1', what: 'one' },
    { version: 2, minimumReader: 1, since: '0.2', what: 'two, which readers of one understand' },
    { version: 3, minimumReader: 3, since: '0.3', what: 'three' },
  ],
};

const stamp = (format: number, minimum = format): FormatStamp => ({
  format,
  minimum_reader: minimum,
  written_by: 'test',
});

/** A place that "crashes" before or after its n-th write, as a process that is killed does. */
function createPlace(
  first: FormatStamp | undefined,
  crashAt = Infinity,
): StampPlace & { kept: FormatStamp | undefined; readonly seen: FormatStamp[] } {
  let operations = 0;
  const operate = (): void => {
    operations += 1;
    if (operations === crashAt) throw new Error('crashed');
  };
  const place = {
    place: 'example',
    kept: first,
    seen: [] as FormatStamp[],
    read: () => Promise.resolve(place.kept),
    async write(written: FormatStamp) {
      operate();
      place.kept = written;
      place.seen.push(written);
      operate();
      return true;
    },
  };
  return place;
}

t.test('every format declares its versions without gaps, and a minimum reader that the version itself reaches', (t) => {
  for (const format of Object.values<FormatVersion>(formatVersions)) {
    const versions = format.versions.map(({ version }) => version);
    t.same(
      versions,
      versions.map((_, place) => (versions[0] as number) + place),
      format.name,
    );
    t.ok(
      format.oldest <= currentVersion(format) &&
        format.versions.every(({ version, minimumReader }) => minimumReader <= version && minimumReader > 0),
      format.name,
    );
    t.ok(
      format.versions.every(
        (step, place) => place === 0 || step.minimumReader >= (format.versions[place - 1] as typeof step).minimumReader,
      ),
      `${format.name}: a reader that was too old stays so`,
    );
  }
  t.end();
});

t.test(
  'a stamp is fine, older, or refused with a sentence that says what, where, its version and what is read',
  (t) => {
    t.equal(judgeStamp(example, stamp(3), 'here').kind, 'fine');
    t.equal(judgeStamp(example, stamp(4, 3), 'here').kind, 'fine', 'a newer one that this program may use');
    t.same(judgeStamp(example, stamp(1), 'here'), { kind: 'older', from: 1 });
    t.same(judgeStamp(example, undefined, 'here'), { kind: 'older', from: 0 });
    const newer = judgeStamp(example, { format: 5, minimum_reader: 4, written_by: '0.9' }, 'here');
    t.match(newer, { kind: 'refused', error: { code: 'FORMAT_NEWER' } });
    t.equal(
      newer.kind === 'refused' && newer.error.message,
      `here: This was written by a newer version of Sluice in a way that this one does not read; start that version or a later one, or use another data folder or other names. Got example of version 5, which needs a reader of version 4, written by Sluice 0.9. Allowed: versions 0 to 3 (this is Sluice ${packageVersion}).`,
    );
    t.match(judgeStamp({ ...example, oldest: 2 }, stamp(1), 'here'), {
      kind: 'refused',
      error: { code: 'FORMAT_TOO_OLD' },
    });
    t.end();
  },
);

t.test('steps run one after the other, and a kill at any point only makes the next start go on', async (t) => {
  for (const first of [undefined, stamp(0, 1), stamp(1), stamp(2, 1)]) {
    for (let crashAt = 1; crashAt <= 14; crashAt += 1) {
      const done = new Set<number>();
      let crashInStep = crashAt % 3 === 0;
      const steps: MigrationSteps = Object.fromEntries(
        [0, 1, 2].map((from) => [
          from,
          async () => {
            for (let earlier = first?.format ?? 0; earlier < from; earlier += 1)
              t.ok(done.has(earlier), 'the step before is complete');
            if (crashInStep) {
              crashInStep = false;
              throw new Error('crashed');
            }
            done.add(from);
          },
        ]),
      );
      const place = createPlace(first, crashAt);
      for (let starts = 0; place.kept?.format !== 3; starts += 1) {
        if (starts > 5) throw new Error('it does not end');
        await bringUpToDate({ format: example, stamps: place, steps, log: silentLog }).catch((error: Error) =>
          t.equal(error.message, 'crashed'),
        );
      }
      t.match(place.kept, { format: 3, minimum_reader: 3, written_by: packageVersion });
      t.same(
        [...done].sort(),
        [0, 1, 2].filter((from) => from >= (first?.format ?? 0)),
      );
    }
  }
});

t.test('before a step changes anything, programs that could not read its outcome are shut out', async (t) => {
  const place = createPlace(stamp(2, 1));
  await bringUpToDate({
    format: example,
    stamps: place,
    steps: { 2: async () => void t.match(place.kept, { format: 2, minimum_reader: 3 }) },
    log: silentLog,
  });
  t.match(place.kept, { format: 3, minimum_reader: 3 });
});

t.test('what others changed meanwhile is judged again; a newer stamp is never lowered', async (t) => {
  const place = createPlace(stamp(1));
  const write = place.write.bind(place);
  place.write = async (written) => {
    if (place.seen.length > 0) return write(written);
    place.kept = stamp(7, 2);
    place.seen.push(place.kept);
    return false;
  };
  await bringUpToDate({ format: example, stamps: place, steps: {}, log: silentLog });
  t.same(place.kept, stamp(7, 2));
});

const rounds = 4;
const groups = 60;
const entryOf = (group: number, offset: number) => ({
  topic: 'sluice.logs',
  generation: 5,
  partition: group % 4,
  offset,
  metadata: `1 ${'a'.repeat(26)}${offset.toString(16)}`,
});

function line(entry: object): string {
  const json = JSON.stringify(entry);
  return `${crc32(json).toString(16).padStart(8, '0')} ${json}\n`;
}

/** A folder as programs wrote it that knew no versions. */
function createOldFolder(folder: string): void {
  mkdirSync(join(folder, 'groups'), { recursive: true });
  writeFileSync(join(folder, 'starts.json'), '{"starts":3}\n');
  for (let group = 0; group < groups; group += 1) {
    const lines = Array.from({ length: 40 }, (_, offset) => line(entryOf(group, offset))).join('');
    writeFileSync(join(folder, 'groups', `g${group}.offsets`), `${lines}00000000 {"torn`);
  }
}

t.test(
  'kill -9 at random moments of the migration of a data folder: the next start completes it, and no offset is lost',
  { timeout: 60_000 },
  async (t) => {
    const runner = join(import.meta.dirname, 'migrate-folder.js');
    const [command, ...leading] = node;
    let interrupted = 0;
    for (let round = 0; round < rounds; round += 1) {
      const folder = testFolder(t);
      createOldFolder(folder);
      const child = spawn(command, [...leading, runner, folder], { stdio: ['ignore', 'pipe', 'inherit'] });
      const ended = new Promise((resolve) => child.once('exit', resolve));
      await new Promise((resolve) => child.stdout.once('data', resolve));
      await wait(round * 18);
      child.kill('SIGKILL');
      await ended;
      if (!readStampText(folder).includes('"format": 1')) interrupted += 1;
      const again = spawn(command, [...leading, runner, folder], { stdio: ['ignore', 'pipe', 'inherit'] });
      again.stdout.resume();
      t.equal(await new Promise((resolve) => again.once('exit', resolve)), 0);
      t.match(JSON.parse(readStampText(folder)), { format: 1, minimum_reader: 1, written_by: packageVersion });
      for (let group = 0; group < groups; group += 1) {
        const text = readFileSync(join(folder, 'groups', `g${group}.offsets`), 'utf8');
        if (!text.slice(9).startsWith('{"format":1}\n') || text.split('\n').length !== 3)
          t.fail(`journal ${group} was not rewritten`);
        t.same((await readGroup(folder, `g${group}`)).get(`sluice.logs/${group % 4}`), entryOf(group, 39));
      }
    }
    t.ok(interrupted > 0, `${interrupted} of ${rounds} were killed before the end`);
  },
);

function readStampText(folder: string): string {
  try {
    return readFileSync(join(folder, 'version.json'), 'utf8');
  } catch {
    return '';
  }
}
