/**
 * A whole deployment: inputs, streams, rules, a pipeline, its connection, a content pack. Asked twice, it changes what
 * is there.
 */
import type { Test } from 'tap';
import { deployInputs } from './deploy-inputs.js';
import type { Deployer } from './deployer.js';

const routed = ['Audit', 'System', 'Integration', 'Access', 'Nginx', 'Kubernetes events', 'Bill Cycle'].map(
  (kind) => `Route ${kind} logs`,
);
const billRule = (stream: string): string => `rule "Route Bill Cycle logs"
when
  has_field("nc_bill_cycle_label") || regex("var\\\\.log\\\\.bill-cycle\\\\.log$", to_string($message.tag)).matches == true
then
  route_to_stream(id: "${stream}", remove_from_default: true);
end`;
const otherRule = (name: string, title: string): string => `rule "${name}"
when
  to_bool($message.never_set) == true || to_string($message.logType) == "none of these" || contains(to_string($message.pod), "no-such-pod")
then
  route_to_stream(name: "${title}", remove_from_default: true);
end`;
const labelsRule = `rule "Processing labels"
when
  has_field("more_labels")
then
  let text = regex_replace("/", to_string($message.more_labels), "_");
  let labels = parse_json(text);
  set_fields(to_map(labels));
  remove_field("more_labels");
end`;

export async function deploy(t: Test, deployer: Deployer): Promise<void> {
  const { send, listed, put, round } = deployer;
  await deployInputs(t, deployer);
  const sets = await listed('/api/system/indices/index_sets', 'index_sets');
  const set = sets.find(({ index_prefix: prefix }) => prefix === 'restored')?.['id'];
  const streams = new Map<string, string>();
  for (const title of ['Nginx logs', 'Kubernetes events', 'Bill Cycle logs']) {
    const id = await put(
      '/api/streams',
      title,
      {
        title,
        description: `${title} from nodes`,
        matching_type: 'AND',
        index_set_id: set,
        rules: [],
        remove_matches_from_default_stream: false,
      },
      [201],
      [200],
      'streams',
    );
    await send('POST', `/api/streams/${id}/resume`, undefined, [204]);
    streams.set(title, id);
  }
  const titles = [
    'Audit logs',
    'System logs',
    'Integration logs',
    'Access logs',
    'Nginx logs',
    'Kubernetes events',
    'Bill Cycle logs',
  ];
  const sources = [
    ...routed.slice(0, -1).map((name, place) => otherRule(name, titles[place] as string)),
    billRule(streams.get('Bill Cycle logs') as string),
    labelsRule,
    'rule "Remove kubernetes" when has_field("kubernetes") then remove_field("kubernetes"); end',
  ];
  const names = sources.map((source) => /"([^"]+)"/.exec(source)?.[1] as string);
  for (const [place, source] of sources.entries())
    await put(
      '/api/system/pipelines/rule',
      names[place] as string,
      { title: names[place], description: '', source },
      [200, 201],
      [200, 201],
    );
  const source = `pipeline "Logs routing"\nstage 0 match either\n${names.map((name) => `rule "${name}"`).join('\n')}\nend`;
  const pipeline = await put(
    '/api/system/pipelines/pipeline',
    'Logs routing',
    { title: 'Logs routing', description: '', source },
    [200],
    [200],
  );
  await send('POST', '/api/system/pipelines/rule/parse', { source: labelsRule }, [200]);
  await send(
    'POST',
    '/api/system/pipelines/connections/to_stream',
    { stream_id: '000000000000000000000001', pipeline_ids: [pipeline] },
    [200],
  );
  t.match(await listed('/api/system/pipelines/connections'), [
    { stream_id: '000000000000000000000001', pipeline_ids: [pipeline] },
  ]);
  t.equal(
    (await listed('/api/system/pipelines/rule')).every(({ in_force: inForce }) => inForce === true),
    true,
  );
  const pack = {
    v: '1',
    id: 'b1f8a0c2-0000-4000-8000-000000000001',
    rev: 1,
    name: 'Dashboards',
    summary: '',
    description: '',
    vendor: '',
    url: '',
    parameters: [],
    entities: [
      {
        v: '1',
        type: { name: 'dashboard', version: '2' },
        id: 'd1',
        data: {
          title: { '@type': 'string', '@value': 'Sources by Service' },
          summary: { '@type': 'string', '@value': '' },
          search: {
            queries: [
              {
                id: 'q1',
                timerange: { type: 'relative', range: 300 },
                query: { type: 'elasticsearch', query_string: '' },
                search_types: [],
              },
            ],
            parameters: [],
          },
          properties: [],
          state: {},
        },
      },
    ],
  };
  if (round === 'second') await send('DELETE', `/api/system/content_packs/${pack.id}`, undefined, [409]);
  else {
    await send('POST', '/api/system/content_packs', pack, [201]);
    const installed = await send(
      'POST',
      `/api/system/content_packs/${pack.id}/1/installations`,
      { parameters: {}, comment: '' },
      [200],
    );
    t.match(installed.body, { entities: [{ type: 'dashboard', title: 'Sources by Service' }], skipped_entities: [] });
  }
  t.ok((await listed('/api/dashboards', 'elements')).some(({ title }) => title === 'Sources by Service'));
}
