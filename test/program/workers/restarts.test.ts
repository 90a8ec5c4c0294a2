import t from 'tap';
import { createRestarts } from '../../../program/workers/restarts.js';

t.test('a worker that dies is started again, later each time, and given up after seven deaths in a row', (t) => {
  const restarts = createRestarts();
  t.same(
    [0, 0, 0, 0, 0, 0, 0].map((lived) => restarts.afterDeath(lived)),
    [200, 400, 800, 1_600, 3_200, 6_400, undefined],
  );
  t.end();
});

t.test('a worker that ran for half a minute begins anew', (t) => {
  const restarts = createRestarts();
  for (let deaths = 0; deaths < 5; deaths += 1) restarts.afterDeath(1_000);
  t.equal(restarts.afterDeath(30_000), 200);
  t.same(
    [0, 0, 0, 0, 0].map((lived) => restarts.afterDeath(lived)),
    [400, 800, 1_600, 3_200, 6_400],
  );
  t.equal(restarts.afterDeath(0), undefined);
  t.end();
});
