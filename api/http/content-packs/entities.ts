/** Kinds of entities in content packs, in the order in which they are made, and the requests that make them. */
import { randomBytes } from 'node:crypto';
import { ownMember } from '../../../core/own-member.js';
import { textOf } from '../objects/shapes.js';

type Members = Readonly<Record<string, unknown>>;

/** A request of this API. */
export interface Making {
  readonly path: string;
  readonly body: Members;
  /** Path of the object that was made, by the answer. */
  readonly undo: (answer: Members) => string;
  /** What is asked afterwards. */
  readonly then?: readonly ((
    answer: Members,
    made: ReadonlyMap<string, string>,
  ) => { readonly path: string; readonly body: Members | undefined } | undefined)[];
}

const idOf = (answer: Members): string => String(answer['id'] ?? answer['stream_id']);
const ruleTypes: Readonly<Record<string, string>> = { ALWAYS_MATCH: 'always', MATCH_INPUT: 'input' };
const list = (value: unknown): readonly Members[] => (Array.isArray(value) ? (value as readonly Members[]) : []);
const newId = (): string => randomBytes(12).toString('hex');

function stream(data: Members): Making {
  const rules = list(data['stream_rules']).map(({ type, field, value, inverted, description }) => ({
    type: ownMember(ruleTypes, textOf(type)) ?? textOf(type).toLowerCase(),
    field,
    value,
    inverted: inverted === true,
    description,
  }));
  return {
    path: '/api/streams',
    body: {
      title: data['title'],
      description: data['description'],
      matching_type: data['matching_type'],
      rules,
      remove_matches_from_default_stream: data['remove_matches'] === true,
    },
    undo: (answer) => `/api/streams/${idOf(answer)}`,
    then:
      data['disabled'] === true ? [] : [(answer) => ({ path: `/api/streams/${idOf(answer)}/resume`, body: undefined })],
  };
}

function input(data: Members): Making {
  const extractors = list(data['extractors']).map((extractor) => (answer: Members) => ({
    path: `/api/system/inputs/${idOf(answer)}/extractors`,
    body: {
      ...extractor,
      extractor_config: extractor['configuration'],
      converters: list(extractor['converters']).map(({ type, configuration }) => ({ type, config: configuration })),
    },
  }));
  return {
    path: '/api/system/inputs',
    body: { title: data['title'], type: data['type'], configuration: data['configuration'], global: true },
    undo: (answer) => `/api/system/inputs/${idOf(answer)}`,
    then: extractors,
  };
}

function output(data: Members): Making {
  return {
    path: '/api/system/outputs',
    body: { title: data['title'], type: data['type'], configuration: data['configuration'] },
    undo: (answer) => `/api/system/outputs/${idOf(answer)}`,
  };
}

function grokPattern(data: Members): Making {
  return {
    path: '/api/system/grok',
    body: { name: data['name'], pattern: data['pattern'] },
    undo: (answer) => `/api/system/grok/${idOf(answer)}`,
  };
}

function pipelineRule({ description, source }: Members): Making {
  return {
    path: '/api/system/pipelines/rule',
    body: { description, source },
    undo: (answer) => `/api/system/pipelines/rule/${idOf(answer)}`,
  };
}

/** Streams are named by their ids here, or by the ids of entities of the same pack. */
function pipeline({ description, source, connected_streams: streams }: Members): Making {
  const names = Array.isArray(streams) ? streams.map(String) : [];
  return {
    path: '/api/system/pipelines/pipeline',
    body: { description, source },
    undo: (answer) => `/api/system/pipelines/pipeline/${idOf(answer)}`,
    then:
      names.length === 0
        ? []
        : [
            (answer, made) => ({
              path: '/api/system/pipelines/connections/to_pipeline',
              body: { pipeline_id: idOf(answer), stream_ids: names.map((name) => made.get(name) ?? name) },
            }),
          ],
  };
}

/** What was stored in it stays in the store. */
function indexSet(data: Members): Making {
  return {
    path: '/api/system/indices/index_sets',
    body: data,
    undo: (answer) => `/api/system/indices/index_sets/${idOf(answer)}?delete_indices=false`,
  };
}

/** With the search that the view shows. Streams of its queries are read by the rights of who looks at it. */
function view(type: 'DASHBOARD' | 'SEARCH'): (data: Members) => Making {
  return (data) => {
    const { search, title, summary, description, properties, state } = data;
    const searchId = newId();
    return {
      path: '/api/views/search',
      body: { ...(search as Members | undefined), id: searchId },
      undo: () => '',
      then: [
        () => ({
          path: '/api/views',
          body: { id: newId(), type, title, summary, description, properties, state, search_id: searchId },
        }),
      ],
    };
  };
}

/** What is made first is what others refer to. */
export const entityTypes: ReadonlyMap<string, (data: Members) => Making> = new Map([
  ['index_set', indexSet],
  ['grok_pattern', grokPattern],
  ['stream', stream],
  ['input', input],
  ['output', output],
  ['pipeline_rule', pipelineRule],
  ['pipeline', pipeline],
  ['search', view('SEARCH')],
  ['dashboard', view('DASHBOARD')],
]);
