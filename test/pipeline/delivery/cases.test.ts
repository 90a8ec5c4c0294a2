import t from 'tap';
import * as events from './simulation/events.js';
import { Director } from './simulation/director.js';
import type { Session } from './simulation/session.js';
import type { Switch } from './simulation/switches.js';
import type { Shape } from './simulation/world.js';

/** The owner goes on, the paused one wakes up and hears of the next epoch; then the owner crashes. */
function wakesUp(director: Director, zombie: Session, owner: Session): void {
  director.accept(2);
  director.committed(owner, 1);
  director.applied(owner);
  director.until(
    zombie,
    ({ state, queue }) => (state.phase === 'ready' || state.phase === 'abandoned') && queue.length === 0,
  );
  director.rotate();
  director.hear(0);
  if (zombie.state.phase === 'cutting') director.ready(zombie);
  director.crash(1);
  director.assign(0);
}

/** Plays a case: the promise holds, and does not when the rule is left out. */
function needs(title: string, rule: Switch, play: (director: Director) => void, kind?: Shape['kind']): void {
  t.test(title, (t) => {
    const whole = new Director([], kind);
    play(whole);
    const problem = whole.end();
    t.equal(problem, undefined, problem === undefined ? 'the promise holds' : whole.trace.join('\n'));
    const less = new Director([rule], kind);
    play(less);
    const broken = less.end();
    t.not(broken, undefined, `without ${rule}: ${broken ?? `nothing fails\n${less.trace.join('\n')}`}`);
    t.end();
  });
}

needs('rule 2: a processor that was paused cuts where its successor has written', 'rule-2', (director) => {
  director.accept(3);
  const zombie = director.ready(director.assign(0));
  const owner = director.committed(director.assign(1), 1);
  director.applied(owner);
  director.rotate();
  director.hear(0);
  director.until(zombie, ({ queue }) => queue.length === 0);
  director.crash(1);
  director.assign(0);
});

needs(
  'rule 2: a processor that was paused before it took over does so when it wakes up',
  'rule-2-proof',
  (director) => {
    director.accept();
    const zombie = director.until(director.assign(0), ({ state }) => state.phase === 'reading');
    const owner = director.ready(director.assign(1));
    wakesUp(director, zombie, owner);
  },
);

needs(
  "rule 2: a generation from before the group was forgotten is larger than its owner's",
  'rule-2-proof',
  (director) => {
    director.accept();
    director.world.group.generation = 4;
    const zombie = director.until(director.assign(0), ({ state }) => state.phase === 'reading');
    director.world.group.generation = 0;
    const owner = director.ready(director.assign(1));
    wakesUp(director, zombie, owner);
  },
);

needs('rule 4: what the former owner sent arrives after the new one has cut', 'rule-4', (director) => {
  director.accept();
  const former = director.until(director.assign(0), ({ delivery }) => delivery?.bulks[0] !== undefined);
  director.world.late.push(...(former.delivery?.bulks ?? []));
  director.crash(0);
  director.rotate();
  director.committed(director.assign(1), 1);
});

needs(
  'rule 7: a topic is made again while messages of it are parked',
  'rule-7-former',
  (director) => {
    director.world.blocked.add('a');
    director.accept();
    director.committed(director.assign(0), 1);
    for (const number of [0, 1]) director.crash(number);
    events.remake(director.world);
    director.rotate();
    director.world.blocked.delete('a');
    director.retire();
    director.processor(1).alive = true;
    director.take(1);
  },
  'marker',
);

needs(
  'rule 11: the program dies between the commit of the store and that of the offset',
  'rule-11',
  (director) => {
    director.accept();
    director.applied(director.assign(0));
    director.crash(0);
    director.rotate();
    director.assign(1);
  },
  'marker',
);

needs(
  'rule 11: a topic is made again, and its offsets begin anew',
  'rule-11-generation',
  (director) => {
    director.accept();
    director.committed(director.assign(0), 1);
    for (const number of [0, 1]) director.crash(number);
    events.remake(director.world);
    director.processor(1).alive = true;
    director.take(1);
    director.accept();
  },
  'marker',
);

needs(
  'rule 12: a message was there already, not synced, and the store dies after the commit',
  'rule-12',
  (director) => {
    director.accept();
    director.applied(director.assign(0));
    director.crash(0);
    director.committed(director.assign(1), 1);
    events.killStore(director.world);
  },
);

needs(
  'rule 12: a message was there already, not synced, and the store dies before the flush',
  'rule-12-look',
  (director) => {
    director.accept();
    director.applied(director.assign(0));
    director.crash(0);
    director.until(director.assign(1), ({ delivery }) => delivery?.bulks[0]?.stage === 'answered');
    events.killStore(director.world);
  },
);

needs('rule 13: a replay ends after its write, and another begins after a rotation', 'rule-13', (director) => {
  director.accept();
  const [message] = director.world.messages.values();
  Object.assign(message as object, { poison: true });
  director.world.reason = 'code';
  director.assign(0);
  director.end();
  director.world.reason = undefined;
  director.rotate();
  director.replay(4);
  director.rotate();
  director.replay(99);
});
