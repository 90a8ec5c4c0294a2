/** Stored definitions as rule files behind those of the operator, with epochs, versions and problems like any file. */
import { apiIdOf } from '../core/object-ids.js';
import type { RuleSource } from '../rules/contract.js';
import type { Problem } from '../rules/problems.js';
import { derivedFiles, isDerivedFile, sourceOf } from './derived.js';
import { ruleKinds, type StoredDefinition, type StoredDefinitions, type RuleKind, type Settings } from './stored.js';

/** No file of the operator has a slash in its name. */
const folder = 'api/';
const listOf: Readonly<Record<RuleKind, string>> = {
  'index-sets': 'index_sets',
  streams: 'streams',
  rules: 'rules',
  outputs: 'outputs',
};

export function isObjectFile(name: string): boolean {
  return name.startsWith(folder);
}

/** Empty when nothing is stored: then the version is that of the files alone. */
export function ruleFilesOf(stored: StoredDefinitions): RuleSource['files'] {
  const files = ruleKinds.map((kind) => ({
    name: `${folder}${kind}.yaml`,
    list: listOf[kind],
    items: stored.filter((object) => object.kind === kind),
  }));
  const obfuscation = stored.find(({ kind }) => kind === 'obfuscation');
  return [
    ...files
      .filter(({ items }) => items.length > 0)
      .map(({ name, list, items }) => ({ name, text: listText(list, items) })),
    ...(obfuscation === undefined
      ? []
      : [{ name: `${folder}obfuscation.yaml`, text: textOf({ obfuscation: obfuscation.definition }) }]),
    ...derivedFiles(stored)
      .filter(({ rules }) => rules.length > 0)
      .map(({ name, rules }) => ({ name, text: textOf({ rules }) })),
  ];
}

/** JSON is YAML; with a line for each setting, a problem has a place. */
const textOf = (file: object): string => `${JSON.stringify(file, undefined, 2)}\n`;

const itemTexts = new WeakMap<StoredDefinition, string>();

/** What `textOf` makes of the list; the text of a definition is made once. */
function listText(list: string, items: StoredDefinitions): string {
  const texts = items.map((item) => {
    const text = itemTexts.get(item) ?? JSON.stringify(definitionOf(item), undefined, 2).replaceAll('\n', '\n    ');
    itemTexts.set(item, text);
    return `    ${text}`;
  });
  return `{\n  ${JSON.stringify(list)}: [\n${texts.join(',\n')}\n  ]\n}\n`;
}

/** In place of each secret the name that `environmentOf` gives it. */
function definitionOf(object: StoredDefinition): Settings {
  let definition = object.definition;
  for (const name of Object.keys(object.secrets))
    definition = withSetting(definition, name.split('.'), `env:${variableOf(object, name)}`);
  return definition;
}

function withSetting(settings: Settings, [first = '', ...rest]: readonly string[], value: string): Settings {
  return {
    ...settings,
    [first]: rest.length === 0 ? value : withSetting((settings[first] ?? {}) as Settings, rest, value),
  };
}

function variableOf({ id, secrets }: StoredDefinition, name: string): string {
  return `SLUICE_OBJECT_${apiIdOf(id)}_${name.replaceAll('.', '_')}_${secrets[name]?.version ?? ''}`;
}

/** Secrets of outputs by the names that stand in the rule files. */
export function environmentOf(stored: StoredDefinitions): Readonly<Record<string, string>> {
  const outputs = stored.filter(({ kind }) => kind === 'outputs');
  return Object.fromEntries(
    outputs.flatMap((object) =>
      Object.entries(object.secrets).map(([name, { value }]) => [variableOf(object, name), value]),
    ),
  );
}

/** The object that a problem is about; undefined: it stands in a file of the operator. */
export function objectOf(problem: Problem, stored: StoredDefinitions): StoredDefinition | undefined {
  const kind = problem.file.slice(folder.length, -'.yaml'.length);
  if (!isObjectFile(problem.file)) return undefined;
  const place = /^\w+\[(\d+)\]/.exec(problem.path)?.[1];
  if (isDerivedFile(problem.file)) return sourceOf(problem.file, Number(place ?? -1), stored);
  const objects = stored.filter((object) => object.kind === kind);
  return kind === 'obfuscation' ? objects[0] : objects[Number(place ?? -1)];
}

/** `rules[0].value` of `streams[3].rules[0].value`. */
export function pathInObject(problem: Problem): string {
  return isObjectFile(problem.file) ? problem.path.replace(/^(?:\w+\[\d+\]|obfuscation)\.?/, '') : '';
}
