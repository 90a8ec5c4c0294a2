import t from 'tap';
import { idFromTitle } from '../../../../api/http/objects/id-from-title.js';

t.test('ids are made of titles', async (t) => {
  const taken = new Set(['shop-errors', 'shop-errors-2']);
  const id = (title: string) => idFromTitle(title, 'stream', (other) => taken.has(other));
  t.equal(id('Shop: Errors!'), 'shop-errors-3');
  t.equal(id('Zahlungen für Köln'), 'zahlungen-fur-koln');
  t.equal(id('日本'), 'stream');
  t.match(id('x'.repeat(500)), /^x{48}$/);
});
