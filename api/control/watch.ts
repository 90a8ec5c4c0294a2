/** Who sends how much, and what passes. */
import type { TapKind } from '../../pipeline/monitoring/contract.js';
import { apiErrors } from '../errors.js';
import type { ControlPorts, ControlRoutes } from './contract.js';

/** Messages of one watcher that wait for its terminal; what comes while there are more is skipped and counted. */
const maxWaiting = 1_000;

interface TapTarget {
  readonly kind: TapKind;
  readonly name: string;
}

/** A name alone, or `receiver:`, `stream:`, `output:` and a name where one name is several things. */
function findTarget(text: string, known: readonly TapTarget[]): TapTarget {
  const colon = text.indexOf(':');
  const [kind, name] = colon < 0 ? [undefined, text] : [text.slice(0, colon), text.slice(colon + 1)];
  const found = known.filter((target) => target.name === name && (kind === undefined || target.kind === kind));
  const only = found[0];
  if (only !== undefined && found.length === 1) return only;
  const spelled = (targets: readonly TapTarget[]): string =>
    targets.map((target) => `${target.kind}:${target.name}`).join(', ');
  if (found.length > 1)
    throw apiErrors.create('API_REQUEST_INVALID', {
      got: `"${text}", which is several things`,
      allowed: spelled(found),
    });
  throw apiErrors.create('API_REQUEST_INVALID', {
    got: `"${text}", which is no receiver, stream or output of this process`,
    allowed: spelled(known),
  });
}

type WatchPorts = Pick<ControlPorts, 'monitoring' | 'outputs' | 'processing' | 'receivers' | 'taps'>;

export function watchRoutes({ monitoring, outputs, processing, receivers, taps }: WatchPorts): ControlRoutes {
  const targets = async (): Promise<TapTarget[]> => [
    ...receivers.list().map(({ name }): TapTarget => ({ kind: 'receiver', name })),
    ...(processing()?.rules()?.streams ?? []).map(({ id }): TapTarget => ({ kind: 'stream', name: id })),
    ...(await outputs.status())
      .filter(({ state }) => state !== 'paused')
      .map(({ id }): TapTarget => ({ kind: 'output', name: id })),
  ];
  return {
    'GET /top': () => monitoring.top(),
    'POST /tap': async (body, { line, signal }) => {
      const { target: text } = (body ?? {}) as { target?: string };
      const target = findTarget(text ?? '', await targets());
      const waiting: object[] = [];
      let skipped = 0;
      let wake: () => void = () => undefined;
      const close = taps.open(target.kind, target.name, (tapped, missed) => {
        skipped += missed;
        if (waiting.length >= maxWaiting) {
          skipped += 1;
          return;
        }
        waiting.push({ ...tapped, skipped });
        skipped = 0;
        wake();
      });
      signal.addEventListener('abort', () => wake());
      try {
        await line({ target });
        while (!signal.aborted) {
          const next = waiting.shift();
          if (next !== undefined) await line(next);
          else
            await new Promise<void>((resolve) => {
              wake = resolve;
            });
        }
      } finally {
        close();
      }
      return undefined;
    },
  };
}
