/** Indices that type the fields of a request alike, so that one request can ask them all. */
import type { FieldType } from '../../contract.js';
import { flatTypes, type MappedField } from '../mapping.js';
import { chunkNames, indicesPath, sendExpecting, type Send } from '../requests.js';

export interface TypeGroup {
  readonly indices: readonly string[];
  readonly types: ReadonlyMap<string, FieldType>;
}

/** An index that lacks a field goes with any that have it: what is asked of the field finds nothing there. */
export async function groupByTypes(
  send: Send,
  indices: readonly string[],
  fields: readonly string[],
  signal: AbortSignal | undefined,
): Promise<TypeGroup[]> {
  const groups: { indices: string[]; readonly types: Map<string, FieldType> }[] = [];
  for (const chunk of chunkNames(indices)) {
    const known =
      fields.length === 0
        ? new Map<string, ReadonlyMap<string, FieldType>>()
        : await typesOf(send, chunk, fields, signal);
    for (const index of chunk) {
      const types = known.get(index) ?? new Map<string, FieldType>();
      const group = groups.find((one) => [...types].every(([field, type]) => (one.types.get(field) ?? type) === type));
      if (group === undefined) groups.push({ indices: [index], types: new Map(types) });
      else {
        group.indices.push(index);
        for (const [field, type] of types) group.types.set(field, type);
      }
    }
  }
  return groups.flatMap((group) => chunkNames(group.indices).map((names) => ({ indices: names, types: group.types })));
}

type MappingReply = Readonly<
  Record<string, { readonly mappings: { readonly properties?: Readonly<Record<string, MappedField>> } }>
>;
type FieldReply = Readonly<
  Record<
    string,
    { readonly mappings: Readonly<Record<string, { readonly mapping: Readonly<Record<string, MappedField>> }>> }
  >
>;

/** Names that a path takes as they are, and as many of them as a request line takes beside the indices. */
const plainNames = /^[\w.,-]{1,900}$/;

async function typesOf(
  send: Send,
  indices: readonly string[],
  fields: readonly string[],
  signal: AbortSignal | undefined,
): Promise<Map<string, ReadonlyMap<string, FieldType>>> {
  const some = fields.every((field) => !field.includes(',')) && plainNames.test(fields.join());
  const path = indicesPath(indices, some ? `_mapping/field/${fields.join()}` : '_mapping');
  const reply = await sendExpecting(
    send,
    { method: 'GET', path, query: { ignore_unavailable: true }, signal },
    'mapping',
    [404],
  );
  const known = new Map<string, ReadonlyMap<string, FieldType>>();
  if (reply.status === 404) return known;
  for (const [index, { mappings }] of Object.entries(reply.body as MappingReply | FieldReply)) {
    const types = some
      ? fieldsOf(mappings as FieldReply[string]['mappings'])
      : flatTypes((mappings as MappingReply[string]['mappings']).properties ?? {});
    known.set(
      index,
      new Map(fields.flatMap((field) => (types.has(field) ? [[field, types.get(field) as FieldType]] : []))),
    );
  }
  return known;
}

function fieldsOf(mappings: FieldReply[string]['mappings']): Map<string, FieldType> {
  const flat = Object.entries(mappings).flatMap(([name, { mapping }]) =>
    Object.values(mapping).map((field): [string, MappedField] => [name, field]),
  );
  return flatTypes(Object.fromEntries(flat));
}
