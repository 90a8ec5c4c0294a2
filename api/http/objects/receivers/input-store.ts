/** Reading and changing receivers: those of the settings file, which stand there, and those of the API. */
import type { Static } from 'typebox';
import { findId } from '../../../../core/object-ids.js';
import type { Definitions } from '../../../../definitions/contract.js';
import { receiverTypes } from '../../../../schemas/receiver-kinds.js';
import { failure, invalidMembers } from '../../failure.js';
import type { ApiServices } from '../../services.js';
import { found, storing } from '../changing.js';
import { idFromTitle } from '../id-from-title.js';
import { showInput, takeInput, type inputAnswer, type InputBody, type inputStateAnswer } from './input-shape.js';

type Input = Static<typeof inputAnswer>;
type Settings = Readonly<Record<string, unknown>>;
type Secrets = Readonly<Record<string, string | undefined>>;

/** As receivers have it where nothing is said. */
const anyHost = '0.0.0.0';

type InputPorts = Pick<ApiServices, 'config' | 'definitions' | 'receiverKinds' | 'receivers'>;
export type InputStore = ReturnType<typeof createInputStore>;

export function createInputStore(services: InputPorts) {
  const { definitions } = services;
  const list = (): Input[] => listInputs(services);
  const read = (name: string): Input => {
    const inputs = list();
    const id = findId(
      inputs.map((input) => input.name),
      name,
    );
    return found(
      'receiver',
      inputs.find((input) => input.name === id),
    );
  };
  /** The id of one that stands in no file. */
  const changeable = (name: string): string => {
    const input = read(name);
    if (input.origin === 'file')
      throw failure(
        'API_MANAGED_ELSEWHERE',
        `The receiver ${input.name} stands in the settings file and is changed there.`,
        {
          body: { origin: 'file' },
        },
      );
    return input.name;
  };

  return {
    list,
    read,
    stateOf: (input: Input) => stateOf(services, input),
    /** The id of the new receiver, or of the one of the settings that listens there as it is wanted. */
    create: (body: InputBody, by: string) =>
      create(
        services,
        body,
        list().map(({ name }) => name),
        by,
      ),
    /** Its id. */
    async change(name: string, body: InputBody, by: string): Promise<string> {
      const id = changeable(name);
      const { definition, secrets } = takeInput(body, read(id).type, services.receiverKinds);
      await update(definitions, id, by, { settings: definition, secrets });
      return id;
    },
    async setEnabled(name: string, enabled: boolean, by: string) {
      const id = changeable(name);
      await update(definitions, id, by, { settings: { enabled } });
      return stateOf(services, read(id));
    },
    async remove(name: string, by: string): Promise<void> {
      const id = changeable(name);
      for (const extractor of definitions
        .stored()
        .filter(({ kind, definition }) => kind === 'extractors' && definition['input'] === id))
        await storing(() => definitions.writer().remove('extractors', extractor.id, by));
      await storing(() => definitions.writer().remove('receivers', id, by));
    },
  };
}

function listInputs({ config, receiverKinds, definitions }: InputPorts): Input[] {
  return [
    ...config.receivers.map((options) =>
      showInput(options, receiverKinds, {
        title: options.name,
        enabled: true,
        createdAt: null,
        createdBy: '',
        origin: 'file',
      }),
    ),
    ...definitions.receivers().map(({ id, title, enabled, options }) => {
      const stored = definitions.stored().find((object) => object.kind === 'receivers' && object.id === id);
      return showInput(options, receiverKinds, {
        title,
        enabled,
        createdAt: stored?.created_at ?? null,
        createdBy: stored?.created_by ?? '',
        origin: 'api',
      });
    }),
  ];
}

function stateOf({ receivers }: InputPorts, { id, name }: Input): Static<typeof inputStateAnswer> {
  const own = receivers.stateOf(name);
  const running = receivers.list().find((receiver) => receiver.name === name);
  const state = !receivers.areHere ? 'ELSEWHERE' : (own?.state ?? (running === undefined ? 'STARTING' : 'RUNNING'));
  return { id, name, state, detailed_message: own?.problem ?? null, address: running?.address() ?? null };
}

async function create(
  { config, receiverKinds, definitions }: InputPorts,
  body: InputBody,
  names: readonly string[],
  by: string,
): Promise<string> {
  const { title, type } = body;
  if (title === undefined || type === undefined)
    throw invalidMembers({
      ...(title === undefined ? { title: ['A receiver needs a title.'] } : {}),
      ...(type === undefined ? { type: [`${receiverTypes(receiverKinds)}.`] } : {}),
    });
  const { definition, secrets } = takeInput(body, undefined, receiverKinds);
  const there = listensAlready(config, definition);
  if (there !== undefined) return there;
  const objects = definitions.writer();
  const id = idFromTitle(title, 'receiver', (taken) => names.includes(taken) || objects.wasUsed('receivers', taken));
  await storing(() =>
    objects.create('receivers', id, { definition: { ...definition, id }, secrets: definedSecrets(secrets) }, by),
  );
  return id;
}

/**
 * Scripts make the input that every Sluice has from its settings: of the same kind and framing, at the same port, with
 * or without TLS as it is wanted.
 */
function listensAlready(
  { receivers }: ApiServices['config'],
  { type, port, host = anyHost, framing, tls }: Settings,
): string | undefined {
  const withTls = (tls as { readonly enabled?: unknown } | undefined)?.enabled === true;
  const isMeant = (one: ApiServices['config']['receivers'][number]): boolean =>
    one.type === type && one.port === port && port !== 0 && (one.host === anyHost || one.host === host);
  const isSame = (one: ApiServices['config']['receivers'][number]): boolean =>
    ('tls' in one && one.tls.enabled) === withTls &&
    (framing === undefined || !('framing' in one) || one.framing === framing);
  return receivers.find((one) => isMeant(one) && isSame(one))?.name;
}

async function update(
  definitions: Definitions,
  id: string,
  by: string,
  { settings, secrets = {} }: { readonly settings: Settings; readonly secrets?: Secrets },
): Promise<void> {
  await storing(() =>
    definitions.writer().change(
      'receivers',
      id,
      (before) => ({
        definition: {
          ...before?.definition,
          ...settings,
          id,
          ...(settings['tls'] === undefined
            ? {}
            : { tls: { ...(before?.definition['tls'] as object | undefined), ...(settings['tls'] as object) } }),
        },
        secrets: definedSecrets({
          ...Object.fromEntries(Object.entries(before?.secrets ?? {}).map(([name, { value }]) => [name, value])),
          ...secrets,
        }),
      }),
      by,
    ),
  );
}

/** Undefined: forget it. */
function definedSecrets(secrets: Secrets): Record<string, string> {
  return Object.fromEntries(
    Object.entries(secrets).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}
