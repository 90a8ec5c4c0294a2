import t from 'tap';
import { expiredIndices, retentions } from '../../../sinks/index-sets/retention/registry.js';
import type { RetentionSettings, RotationSettings } from '../../../schemas/index-sets.js';
import { rotations, shouldRotate } from '../../../sinks/index-sets/rotation/registry.js';

const day = 86_400_000;
const at = (text: string) => Date.parse(text);

t.test('rotation', async (suite) => {
  const facts = { bytes: 100, documents: 10, createdAt: at('2026-11-20T23:59:59Z'), now: at('2026-11-21T00:00:01Z') };
  const cases: readonly (readonly [string, RotationSettings, Partial<typeof facts>, boolean])[] = [
    ['by size: below', { type: 'size', max_bytes: 101 }, {}, false],
    ['by size: reached', { type: 'size', max_bytes: 100 }, {}, true],
    [
      'by size: an empty index stays, however large its files',
      { type: 'size', max_bytes: 50 },
      { documents: 0 },
      false,
    ],
    ['by count: below', { type: 'count', max_documents: 11 }, {}, false],
    ['by count: reached', { type: 'count', max_documents: 10 }, {}, true],
    ['by time: midnight UTC has passed', { type: 'time', period_ms: day }, {}, true],
    ['by time: the same day', { type: 'time', period_ms: day }, { createdAt: at('2026-11-21T00:00:00Z') }, false],
    [
      'by time: nearly a day, and the same day',
      { type: 'time', period_ms: day },
      { createdAt: at('2026-11-21T00:00:00Z'), now: at('2026-11-21T23:59:59.999Z') },
      false,
    ],
    [
      'by time: many periods are one',
      { type: 'time', period_ms: day },
      { createdAt: at('2026-01-01T00:00:00Z') },
      true,
    ],
    ['by time: an empty index stays', { type: 'time', period_ms: day }, { documents: 0 }, false],
    [
      'by time: weeks end on Sundays',
      { type: 'time', period_ms: 7 * day },
      { createdAt: at('2026-11-16T00:00:00Z'), now: at('2026-11-22T23:59:59Z') },
      false,
    ],
    [
      'by time: weeks begin on Mondays',
      { type: 'time', period_ms: 7 * day },
      { createdAt: at('2026-11-22T23:59:59Z'), now: at('2026-11-23T00:00:00Z') },
      true,
    ],
    [
      'by time: hours',
      { type: 'time', period_ms: 3_600_000 },
      { createdAt: at('2026-11-21T09:59:59Z'), now: at('2026-11-21T10:00:00Z') },
      true,
    ],
    [
      'by time: a clock that was set back does not rotate',
      { type: 'time', period_ms: day },
      { createdAt: at('2026-11-22T00:00:00Z') },
      false,
    ],
  ];
  for (const [title, settings, more, due] of cases) {
    await suite.test(title, async (test) => {
      test.equal(shouldRotate(settings, { ...facts, ...more }), due);
    });
  }
  suite.same(
    Object.entries(rotations).map(([type, rotation]) => type === rotation.type),
    [true, true, true],
  );
});

t.test('retention', async (suite) => {
  const indices = [0, 1, 2, 3].map((number) => ({ name: `set_${number}`, open: number > 0, bytes: 10 }));
  const cases: readonly (readonly [string, RetentionSettings, readonly string[]])[] = [
    [
      'delete by number, the oldest first',
      { type: 'delete', max_indices: 2, max_total_bytes: undefined },
      ['set_0', 'set_1'],
    ],
    ['delete by bytes', { type: 'delete', max_indices: undefined, max_total_bytes: 25 }, ['set_0', 'set_1']],
    [
      'delete by whichever asks for more',
      { type: 'delete', max_indices: 3, max_total_bytes: 15 },
      ['set_0', 'set_1', 'set_2'],
    ],
    ['exactly at the limits nothing happens', { type: 'delete', max_indices: 4, max_total_bytes: 40 }, []],
    [
      'the newest is never touched',
      { type: 'delete', max_indices: 0, max_total_bytes: 0 },
      ['set_0', 'set_1', 'set_2'],
    ],
    ['close passes over what is closed', { type: 'close', max_indices: 2, max_total_bytes: undefined }, ['set_1']],
    ['none', { type: 'none', max_indices: 1, max_total_bytes: 1 }, []],
    ['no limits', { type: 'delete', max_indices: undefined, max_total_bytes: undefined }, []],
  ];
  for (const [title, settings, names] of cases) {
    await suite.test(title, async (test) => {
      test.same(
        expiredIndices(settings, indices),
        names.map((name) => ({ name, action: settings.type })),
      );
    });
  }
  suite.same(expiredIndices({ type: 'delete', max_indices: 1, max_total_bytes: 1 }, []), []);
  suite.same(
    Object.entries(retentions).map(([type, retention]) => type === retention.type),
    [true, true, true],
  );
});
