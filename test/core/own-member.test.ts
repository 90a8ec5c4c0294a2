import t from 'tap';
import { ownMember } from '../../core/own-member.js';

t.test('only what the table holds itself is found', (t) => {
  const table = { one: 1 };
  t.equal(ownMember(table, 'one'), 1);
  for (const name of ['two', '', 'constructor', 'toString', '__proto__', 'hasOwnProperty'])
    t.equal(ownMember(table, name), undefined, name);
  t.end();
});
