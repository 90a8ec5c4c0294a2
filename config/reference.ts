/** The reference page and the example file, written from the schema; a test holds the files on disk to them. */
import { stringify } from 'yaml';
import { variablePrefix } from './environment.js';
import { allowedText, hasType, type SettingSchema } from './schema.js';

/** `docs/reference/settings.md` */
export function settingsReference(schema: SettingSchema): string {
  const sections = sectionsOf(schema, '', 'Top level');
  return [
    '# Settings',
    '',
    '<!-- Generated from schemas/config/ by settingsReference(); do not edit. -->',
    '',
    'Settings come from `sluice.yaml` (or the file that `--config` or `SLUICE_CONFIG` names), with environment variables over it.',
    'The name of a variable is `SLUICE_` and the setting in capitals, two underscores for each dot: `SLUICE_TOPICS__KIND=kafka` sets `topics.kind`,',
    '`SLUICE_RECEIVERS__0__PORT=12201` the port of the first receiver. A whole list is given as JSON, a list of texts also with commas.',
    '',
    'Sizes (names that end in `_bytes`) are bytes or a text with a unit: `64 MiB` (2^20), `20 GB` (10^9). Relative paths start at the folder of the settings file.',
    'A secret is the value itself, `file:<path>` (one trailing newline is dropped) or `env:<NAME>`. `sluice config show` prints all settings with secrets hidden.',
    '',
    ...sections,
  ].join('\n');
}

function sectionsOf(schema: SettingSchema, prefix: string, title: string): string[] {
  const properties = Object.entries(schema.properties ?? {});
  const isSection = (one: SettingSchema) => one.properties !== undefined || one.items?.variants !== undefined;
  const leaves = properties.filter(([, one]) => !isSection(one));
  const lines: string[] = [];
  if (prefix !== '' || leaves.length > 0)
    lines.push(`## ${title}`, '', ...(schema.description === undefined ? [] : [schema.description, '']));
  if (leaves.length > 0)
    lines.push(
      '| setting | default | takes | meaning |',
      '|---|---|---|---|',
      ...leaves.map(([name, one]) => row(`${prefix}${name}`, one)),
      '',
    );
  for (const [name, one] of properties.filter(([, child]) => isSection(child))) {
    if (one.properties !== undefined) lines.push(...sectionsOf(one, `${prefix}${name}.`, `\`${prefix}${name}\``));
    else lines.push(...listSections(`${prefix}${name}`, one));
  }
  return lines;
}

function listSections(name: string, list: SettingSchema): string[] {
  const lines = [
    `## \`${name}\``,
    '',
    `${list.description ?? ''} A list; the default is \`${JSON.stringify(list.default)}\`.`,
    '',
  ];
  for (const [type, variant] of Object.entries(list.items?.variants ?? {}))
    lines.push(...sectionsOf(variant, `${name}[].`, `\`${name}\` of type \`${type}\``));
  return lines;
}

function row(name: string, schema: SettingSchema): string {
  const short = name.replace(/^.*\[\]\./, '');
  const value =
    schema.secret === true ? 'none' : schema.default === undefined ? 'required' : `\`${defaultText(short, schema)}\``;
  const takes =
    schema.secret === true ? 'secret' : `${allowedText(schema)}${short.endsWith('_bytes') ? ', or a size' : ''}`;
  return `| \`${short}\` | ${value} | ${cell(takes)} | ${cell(schema.description ?? '')} |`;
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('<', '&lt;');
}

function defaultText(name: string, schema: SettingSchema): string {
  return name.endsWith('_bytes') && typeof schema.default === 'number'
    ? sizeText(schema.default)
    : JSON.stringify(schema.default);
}

/** The shortest exact way to write a number of bytes. */
export function sizeText(bytes: number): string {
  for (const [unit, factor] of [
    ['GiB', 2 ** 30],
    ['MiB', 2 ** 20],
    ['GB', 1e9],
    ['MB', 1e6],
    ['KiB', 2 ** 10],
  ] as const) {
    if (bytes >= factor && bytes % factor === 0) return `${bytes / factor} ${unit}`;
  }
  return String(bytes);
}

/** `examples/sluice.yaml`: every setting of one machine with its meaning and default. */
export function exampleSettings(schema: SettingSchema, leftOut: ReadonlySet<string>): string {
  const head = [
    'Settings of Sluice on one machine: topics and index store are embedded, nothing else is needed.',
    'Every setting is shown with its default; a file needs only those that differ. Reference: docs/reference/settings.md.',
    `Environment variables stand over this file: ${variablePrefix}ADMIN__PORT=9000 sets admin.port.`,
  ];
  return `${head.map((line) => `# ${line}`).join('\n')}\n\n${exampleOf(schema, '', { path: [], leftOut })}`;
}

interface ExampleContext {
  readonly path: readonly string[];
  /** Sections that the example does not show. */
  readonly leftOut: ReadonlySet<string>;
}

function exampleOf(schema: SettingSchema, indent: string, { path, leftOut }: ExampleContext): string {
  let text = '';
  for (const [name, one] of Object.entries(schema.properties ?? {})) {
    if (leftOut.has([...path, name].join('.'))) continue;
    const comment = one.description === undefined ? '' : `${indent}# ${one.description}${choices(one)}\n`;
    const gap = indent === '' && text !== '' ? '\n' : '';
    if (one.properties !== undefined)
      text += `${gap}${comment}${indent}${name}:\n${exampleOf(one, `${indent}  `, { path: [...path, name], leftOut })}`;
    else if (one.items?.variants !== undefined)
      text += `${gap}${comment}${indent}${name}:\n${exampleList(one, indent)}`;
    else text += `${gap}${comment}${indent}${name}: ${exampleValue(name, one)}\n`;
  }
  return text;
}

function exampleList(list: SettingSchema, indent: string): string {
  const items = Array.isArray(list.default) ? (list.default as { readonly type: string }[]) : [];
  return items
    .map(({ type }) => {
      const variant = list.items?.variants?.[type] ?? {};
      const properties = Object.fromEntries(
        Object.entries(variant.properties ?? {}).filter(([name]) => name !== 'type'),
      );
      return `${indent}  - type: ${type}\n${exampleOf({ properties }, `${indent}    `, { path: [], leftOut: new Set() })}`;
    })
    .join('');
}

function choices(schema: SettingSchema): string {
  return schema.enum === undefined || schema.enum.length < 2 ? '' : ` One of ${schema.enum.map(String).join(', ')}.`;
}

function exampleValue(name: string, schema: SettingSchema): string {
  if (name.endsWith('_bytes') && hasType(schema, 'integer') && typeof schema.default === 'number')
    return sizeText(schema.default);
  return stringify(schema.default, { collectionStyle: 'flow', lineWidth: 0 }).trim();
}
