/** Rules name the streams that they route to: to those who may read them, and to nobody else, in whatever answer. */
import t from 'tap';
import { apiIdOf } from '../../../../core/object-ids.js';
import { askers, startMatrix } from './world.js';

const { askAs } = await startMatrix(t, { messages: false });
const hidden = { route: { hidden: true } };
const routed = { route: { stream: 'bravo' } };
const tried = { set: { field: 'tried', value: 'yes' } };
const pipelineRules = '/api/system/pipelines/rule';
const source = 'rule "to the other lane" when has_field("lane") then route_to_stream(name: "Bravo"); end';
const namesBravo = (text: string): boolean => /bravo/i.test(text) || text.includes(apiIdOf('bravo'));
const seesSystem = askers.filter(({ capabilities }) => capabilities.includes('system:read'));
type Rule = Readonly<Record<string, unknown>>;
const ruleOf = async (name: string, rule: string): Promise<Rule> =>
  (await askAs(name, 'GET', `/api/rules/${rule}`)).json<Rule>();
const kept = async (rule: string): Promise<unknown> => (await ruleOf('Admin', rule))['then'];

t.test('a list of rules is whole, and an action to a hidden stream is there without its name', async (t) => {
  const { body } = await askAs('Admin', 'GET', '/api/rules');
  const names = (text: string): unknown[] =>
    (JSON.parse(text) as { rules: readonly Rule[] }).rules.map(({ name }) => name);
  for (const { name, reads } of seesSystem) {
    const list = (await askAs(name, 'GET', '/api/rules')).body;
    t.same(names(list), names(body), `${name}: the same rules in the same order`);
    const shown = (JSON.parse(list) as { rules: readonly Rule[] }).rules.find((rule) => rule['name'] === 'by-lane');
    const reader = reads.includes('bravo');
    t.same(
      [shown?.['then'], shown?.['description']],
      reader ? [[tried, routed], 'Lane nine goes to Bravo too.'] : [[tried, hidden], ''],
      name,
    );
    t.same(await ruleOf(name, 'by-lane'), shown, name);
    t.match(shown, { id: apiIdOf('by-lane'), enabled: true, when: { field: 'lane', equals: '9' } }, name);
    t.same(
      (await ruleOf(name, 'own-containers'))['then'],
      [reads.includes('audit-logs') ? { route: { stream: 'audit-logs' } } : hidden],
      name,
    );
    t.equal(namesBravo(list), reader, name);
  }
});

t.test('who changes rules sends hidden actions back as they came, and they stay', async (t) => {
  const asker = 'can-rules-edit';
  const made = await askAs(asker, 'POST', '/api/rules', {
    body: { name: 'two-lanes', description: 'To bravo', when: { always: true }, then: [routed, tried] },
  });
  t.match(
    [made.statusCode, made.json()],
    [201, { description: '', then: [hidden, tried] }],
    'a rule may route where its author does not read',
  );
  t.notOk(namesBravo(made.body));
  const change = async (body: object): Promise<{ readonly statusCode: number; readonly body: string }> =>
    askAs(asker, 'PUT', '/api/rules/two-lanes', { body });
  const { when } = made.json<Rule>();
  t.equal((await change({ enabled: false, when, then: [tried, hidden] })).statusCode, 200);
  t.same(await kept('two-lanes'), [tried, routed], 'also in another place');
  for (const body of [{ then: [hidden, hidden] }, { then: [{ route: { hidden: true, stream: 'alpha' } }, hidden] }]) {
    const refused = await change(body);
    t.equal(refused.statusCode, 400);
    t.notOk(namesBravo(refused.body));
  }
  t.same(await kept('two-lanes'), [tried, routed]);
  t.equal(
    (await askAs(asker, 'POST', '/api/rules', { body: { when: { always: true }, then: [hidden] } })).statusCode,
    400,
    'it stands for nothing in a rule that is new',
  );
  const message = { short_message: 'x', host: 'y', _lane: 9 };
  const answers = [
    await askAs(asker, 'POST', '/api/rules/two-lanes/try', { body: { message } }),
    await askAs(asker, 'POST', '/api/rules/by-lane/try', { body: { message } }),
    await askAs(asker, 'POST', '/api/rules/try', { body: { when: { always: true }, then: [routed], message } }),
    await change({ enabled: true }),
    await change({ then: [{ route: { stream: 'brawo' } }] }),
    await askAs(asker, 'POST', '/api/rules/try', {
      body: { when: { always: true }, then: [{ route: { stream: 'brawo' } }], message },
    }),
  ];
  for (const [place, answer] of answers.entries()) t.notOk(namesBravo(answer.body), `answer ${place}: ${answer.body}`);
  t.same(
    answers.map(({ statusCode }) => statusCode),
    [200, 200, 200, 200, 400, 400],
  );
  t.equal((await change({ then: [tried] })).statusCode, 200, 'who edits rules may take the action away');
  t.same(await kept('two-lanes'), [tried]);
  t.equal((await askAs(asker, 'DELETE', '/api/rules/two-lanes')).statusCode, 204);
});

t.test('rules of pipelines that route to a hidden stream show what they do, not where', async (t) => {
  const [all, stream] = ['/api/system/pipelines', '000000000000000000000001'];
  t.equal(
    (await askAs('Admin', 'POST', pipelineRules, { body: { source, description: 'for bravo' } })).statusCode,
    200,
  );
  const { id } = (
    await askAs('Admin', 'POST', `${all}/pipeline`, {
      body: { source: 'pipeline "lanes" stage 0 match either rule "to the other lane"; end' },
    })
  ).json<{ id: string }>();
  t.equal(
    (await askAs('Admin', 'POST', `${all}/connections/to_stream`, { body: { stream_id: stream, pipeline_ids: [id] } }))
      .statusCode,
    200,
  );
  for (const { name, reads } of seesSystem) {
    const reader = reads.includes('bravo');
    for (const path of [
      pipelineRules,
      `${pipelineRules}/to-the-other-lane`,
      '/api/rules',
      `${all}/pipeline`,
      `${all}/pipeline/${id}`,
    ]) {
      const { body, statusCode } = await askAs(name, 'GET', path);
      t.equal(statusCode, 200);
      if (!reader) t.notOk(namesBravo(body), `${name} ${path}`);
    }
    const { body } = await askAs(name, 'GET', `${pipelineRules}/to-the-other-lane`);
    t.match(
      JSON.parse(body),
      reader
        ? { source, description: 'for bravo', then: [routed] }
        : {
            title: 'to the other lane',
            source: '',
            description: '',
            when: { field: 'lane', exists: true },
            then: [hidden],
            in_force: true,
          },
      name,
    );
  }
  const parsed = await askAs('can-rules-edit', 'POST', `${pipelineRules}/parse`, { body: { source } });
  t.match(parsed.json(), { then: [hidden] });
});
