/**
 * The engine's methods as functions of the main thread: the names are the engine's own, so that nothing is listed here.
 */
import type { EngineGroups } from './protocol.js';

/** Each method of the group, answered by the worker thread. */
export type Remote<Group> = {
  readonly [Method in keyof Group]: Group[Method] extends (...given: infer Given) => infer Value
    ? (...given: Given) => Promise<Awaited<Value>>
    : never;
};

export type CallEngine = (group: keyof EngineGroups, method: string, given: readonly unknown[]) => Promise<unknown>;

export function remoteGroup<Name extends keyof EngineGroups>(name: Name, call: CallEngine): Remote<EngineGroups[Name]> {
  const target: object = {};
  return new Proxy(target, {
    get(known, method) {
      if (typeof method !== 'string') return undefined;
      if (!Object.hasOwn(known, method))
        Reflect.set(known, method, (...given: readonly unknown[]) => call(name, method, given));
      return Reflect.get(known, method) as unknown;
    },
  }) as Remote<EngineGroups[Name]>;
}
