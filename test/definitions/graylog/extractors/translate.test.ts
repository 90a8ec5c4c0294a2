/** Extractors come to rules that find what they find. */
import t from 'tap';
import { isSluiceError } from '../../../../core/errors.js';
import { fieldProblemsOf } from '../../../../definitions/contract.js';
import { extractorRules } from '../../../../definitions/graylog/extractors/rules.js';
import type { ExtractorSettings } from '../../../../definitions/graylog/contract.js';
import { translateExtractor } from '../../../../definitions/graylog/extractors/translate.js';
import type { StoredDefinition } from '../../../../definitions/stored.js';
import type { LogDocument } from '../../../../schemas/messages.js';
import { compiled, run } from '../../../rules/support.js';
import { present } from '../pipeline-rules/support.js';

const settings = (type: string, more: Partial<ExtractorSettings> = {}): ExtractorSettings => ({
  input: 'in',
  type,
  source: 'message',
  target: 'out',
  strategy: 'copy',
  config: {},
  converters: [],
  conditionType: 'none',
  conditionValue: '',
  ...more,
});

function extract(extractor: ExtractorSettings, document: LogDocument): LogDocument {
  const kept: StoredDefinition = {
    kind: 'extractors',
    id: 'e',
    definition: { title: 'E', input: 'in', ...translateExtractor(extractor) },
    secrets: {},
    created_at: '',
    created_by: '',
    changed_at: '',
    changed_by: '',
    revision: '',
  };
  const { document: after } = run(compiled({ rules: extractorRules([kept]).map(({ rule }) => rule) }), {
    receiver: 'in',
    ...document,
  });
  const { receiver, ...rest } = after;
  t.ok(receiver);
  return present(rest);
}

t.test('each type', async (t) => {
  t.strictSame(extract(settings('copy_input'), { message: 'm' }), { message: 'm', out: 'm' });
  t.strictSame(
    extract(settings('json', { source: 'docker', config: { key_separator: '-', key_prefix: 'd-', flatten: false } }), {
      docker: '{"labels":{"app":"pay"},"id":7}',
    }),
    { docker: '{"labels":{"app":"pay"},"id":7}', 'd-labels-app': 'pay', 'd-id': 7 },
  );
  t.strictSame(
    extract(
      settings('grok', { config: { grok_pattern: '^%{WORD:level;string} %{NUMBER}', named_captures_only: true } }),
      { message: 'INFO 5' },
    ),
    { message: 'INFO 5', level: 'INFO' },
  );
  t.strictSame(extract(settings('regex', { config: { regex_value: 'id=(\\d+)(;|$)' } }), { message: 'x id=17;' }), {
    message: 'x id=17;',
    out: '17',
  });
  t.strictSame(extract(settings('regex', { config: { regex_value: 'id=(\\d+)' } }), { message: 'none' }), {
    message: 'none',
  });
  t.strictSame(
    extract(settings('regex_replace', { config: { regex: '(\\d+)', replacement: '<$1>', replace_all: true } }), {
      message: 'a1b2',
    }),
    { message: 'a1b2', out: 'a<1>b<2>' },
  );
  t.strictSame(
    extract(settings('regex_replace', { config: { regex: '\\d', replacement: 'n' } }), { message: 'none' }),
    { message: 'none' },
  );
  t.strictSame(extract(settings('substring', { config: { begin_index: 2, end_index: 5 } }), { message: 'ab\nde f' }), {
    message: 'ab\nde f',
    out: '\nde',
  });
  t.strictSame(extract(settings('substring', { config: { begin_index: 2, end_index: 50 } }), { message: 'short' }), {
    message: 'short',
  });
  for (const [index, out] of [
    [1, 'a'],
    [2, 'b.c'],
    [3, 'd'],
  ] as const)
    t.strictSame(extract(settings('split_and_index', { config: { split_by: '|', index } }), { message: 'a|b.c|d' }), {
      message: 'a|b.c|d',
      out,
    });
  t.strictSame(extract(settings('split_and_index', { config: { split_by: '|', index: 4 } }), { message: 'a|b.c|d' }), {
    message: 'a|b.c|d',
  });
});

t.test('only for its receiver, where the field is there and the condition holds', async (t) => {
  t.strictSame(extract(settings('copy_input'), { message: 'm', receiver: 'another' }), { message: 'm' });
  t.strictSame(extract(settings('copy_input', { source: 'none' }), { message: 'm' }), { message: 'm' });
  t.strictSame(extract(settings('copy_input', { conditionType: 'string', conditionValue: 'x' }), { message: 'm' }), {
    message: 'm',
  });
  t.strictSame(extract(settings('copy_input', { conditionType: 'regex', conditionValue: '^m.?$' }), { message: 'm' }), {
    message: 'm',
    out: 'm',
  });
});

t.test('converters', async (t) => {
  const time = settings('substring', {
    source: 'event_time',
    target: 'timestamp',
    config: { begin_index: 0, end_index: 23 },
    converters: [
      { type: 'date', config: { date_format: "yyyy-MM-dd'T'HH:mm:ss,SSS", time_zone: 'UTC', locale: 'en' } },
    ],
  });
  t.strictSame(extract(time, { event_time: '2026-01-02T03:04:05,678 and more', timestamp: 'x' }), {
    event_time: '2026-01-02T03:04:05,678 and more',
    timestamp: '2026-01-02T03:04:05.678Z',
  });
  t.strictSame(extract(time, { event_time: 'no time at all, but long enough', timestamp: 'x' }), {
    event_time: 'no time at all, but long enough',
    timestamp: 'x',
  });
  t.strictSame(
    extract(settings('regex', { config: { regex_value: 'n=(\\S+)' }, converters: [{ type: 'numeric', config: {} }] }), {
      message: 'n=42',
    }),
    { message: 'n=42', out: 42 },
  );
  t.strictSame(
    extract(settings('copy_input', { target: 'odd-name' }), { message: 'm', sluice_extractor_value: 'sent' }),
    { message: 'm', 'odd-name': 'm' },
  );
});

t.test('what is not supported is refused by the name of its setting', async (t) => {
  const refused = (extractor: ExtractorSettings, field: string, message: RegExp): void => {
    try {
      translateExtractor(extractor);
      t.fail(`${field} was taken`);
    } catch (error) {
      t.match(isSluiceError(error) ? fieldProblemsOf(error) : error, [{ field, message }]);
    }
  };
  refused(settings('lookup_table'), 'extractor_type', /lookup_table are not supported. Supported: copy_input/);
  refused(settings('copy_input', { strategy: 'cut' }), 'cut_or_copy', /Only copy/);
  refused(settings('copy_input', { target: '' }), 'target_field', /needs a target/);
  refused(settings('copy_input', { source: '' }), 'source_field', /needs a source/);
  refused(
    settings('copy_input', { converters: [{ type: 'hash', config: {} }] }),
    'converters',
    /converter hash is not supported/,
  );
  refused(
    settings('copy_input', {
      converters: [
        { type: 'numeric', config: {} },
        { type: 'hash', config: {} },
      ],
    }),
    'converters',
    /One converter/,
  );
  refused(settings('json', { converters: [{ type: 'numeric', config: {} }] }), 'converters', /names of their own/);
  refused(settings('json', { config: { flatten: true } }), 'extractor_config.flatten', /Got true/);
  refused(
    settings('grok', { config: { grok_pattern: '(?<level>x)%{WORD:b}' } }),
    'extractor_config.grok_pattern',
    /group with a name/,
  );
  refused(settings('grok'), 'extractor_config.grok_pattern', /needed/);
  refused(settings('regex', { config: { regex_value: 'no group' } }), 'extractor_config.regex_value', /needs a group/);
  refused(settings('substring', { config: { begin_index: 5, end_index: 5 } }), 'extractor_config.end_index', /behind/);
  refused(
    settings('substring', { config: { begin_index: 0, end_index: 5_000 } }),
    'extractor_config.end_index',
    /1000/,
  );
  refused(settings('split_and_index', { config: { split_by: ',', index: 0 } }), 'extractor_config.index', /from 1/);
  refused(
    settings('copy_input', { conditionType: 'maybe', conditionValue: 'x' }),
    'condition_type',
    /none, string, regex/,
  );
  refused(settings('copy_input', { conditionType: 'regex' }), 'condition_value', /needs a value/);
  refused(settings('copy_input', { converters: [{ type: 'date', config: {} }] }), 'converters', /date_format/);
});
