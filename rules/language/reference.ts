/** The reference page and the JSON Schema of rule files, generated from the registries. */
import { stringify } from 'yaml';
import type { TSchema } from 'typebox';
import { grokPatterns } from '../actions/parsing/grok-patterns.js';
import { actions } from '../actions/registry.js';
import { conditions } from '../conditions/registry.js';
import { fileSchema } from './parse.js';

/** Editors use it: `# yaml-language-server: $schema=.../rules.schema.json` at the head of a rule file. */
export function ruleFileJsonSchema(): string {
  return `${JSON.stringify({ $schema: 'http://json-schema.org/draft-07/schema#', ...plain(fileSchema) }, null, 2)}\n`;
}

const plain = (schema: TSchema): Record<string, unknown> =>
  JSON.parse(JSON.stringify(schema)) as Record<string, unknown>;

export function rulesReference(): string {
  const parts = [
    '# Conditions and actions of rule files',
    'Generated from `rules/conditions` and `rules/actions`; see [the guide](../rules.md). Every example is run by the tests.',
    '## Conditions',
    'A condition tests one thing: `{field: tag, contains: audit}`. `container`/`container_name`, `namespace`/`namespace_name`, `pod`/`pod_name` and `host`/`hostname` stand for each other where the message has only one of them. `ignore_case: true` may stand beside those marked with it.',
    ...conditions.map((entry) => conditionText(entry)),
    '## Actions',
    "Actions use exact field names. Sluice's own fields cannot be written; `timestamp` only by `date`. A key found in a message that collides with one of them is stored as `sender_<name>`, and characters that a field name cannot have become `_`.",
    ...actions.map((entry) => actionText(entry)),
    '## Named patterns of grok',
    Object.entries(grokPatterns)
      .map(([name, pattern]) => `- \`${name}\`: \`${pattern.replaceAll('`', '\\u0060')}\``)
      .join('\n'),
  ];
  return `${parts.join('\n\n')}\n`;
}

function conditionText({
  name,
  description,
  takesField,
  takesIgnoreCase,
  example,
}: (typeof conditions)[number]): string {
  const takes = takesField ? `Takes \`field\`${takesIgnoreCase ? ' and `ignore_case`' : ''}. ` : '';
  const misses = example.misses === undefined ? '' : ` Does not hold for \`${JSON.stringify(example.misses)}\`.`;
  return `### ${name}\n\n${description}\n\n${fenced({ when: example.when })}\n\n${takes}Holds for \`${JSON.stringify(example.matches)}\`.${misses}`;
}

function actionText({ name, description, schema, example }: (typeof actions)[number]): string {
  const outcome =
    example.after === undefined
      ? 'the message is dropped'
      : `\`${JSON.stringify(example.after)}\`${example.streams === undefined ? '' : `, in the streams ${example.streams.join(', ')}`}`;
  return `### ${name}\n\n${description}\n\n${optionsTable(schema)}${fenced({ then: example.then })}\n\n\`${JSON.stringify(example.before)}\` becomes ${outcome}.`;
}

interface OptionSchema {
  readonly description?: string;
  readonly default?: unknown;
}

function optionsTable(schema: TSchema): string {
  const { properties, required } = schema as {
    properties?: Readonly<Record<string, OptionSchema>>;
    required?: readonly string[];
  };
  if (properties === undefined) return '';
  const rows = Object.entries(properties).map(([name, option]) => {
    const value =
      option.default === undefined
        ? required?.includes(name) === true
          ? 'required'
          : ''
        : `\`${JSON.stringify(option.default)}\``;
    return `| \`${name}\` | ${option.description ?? ''} | ${value} |`;
  });
  return `| option | meaning | default |\n|---|---|---|\n${rows.join('\n')}\n\n`;
}

const fenced = (value: unknown): string =>
  `\`\`\`yaml\n${stringify(value, { lineWidth: 0, flowCollectionPadding: false }).trimEnd()}\n\`\`\``;
