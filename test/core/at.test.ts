/** Elements that are known to be there. */
import t from 'tap';
import { at, last } from '../../core/at.js';

t.test('elements of arrays, typed arrays and texts', async (t) => {
  t.equal(at(['a', 'b'], 1), 'b');
  t.equal(at(Uint8Array.of(0, 7), 0), 0);
  t.equal(at('text', 1), 'e');
  t.equal(at([undefined], 0), undefined);
  t.equal(last([1, 2, 3]), 3);
});

t.test('an index outside is named', async (t) => {
  for (const index of [-1, 2, 0.5, Number.NaN])
    t.throws(() => at(['a', 'b'], index), new RangeError(`no element ${index} in a list of 2`));
  t.throws(() => at('ab', 2), RangeError);
  t.throws(() => at(new Uint32Array(1), 1), RangeError);
  t.throws(() => last([]), new RangeError('no element -1 in a list of 0'));
});
