/**
 * The HTTP API of a running program. What serves it (Fastify and all that comes with it) is loaded only when it starts.
 */
import type { FirstPassword } from '../access/contract.js';
import type { ApiOptions as ApiSettings } from '../schemas/config/api.js';
import type { ApiAddress } from './contract.js';
import type { ApiHttpServer } from './http/server.js';
import type { ApiServices } from './http/services.js';

export interface Api {
  start(): Promise<void>;
  address(): ApiAddress | undefined;
  /** Passwords of the users that the first start made; the terminal shows them once. */
  firstPasswords(): readonly FirstPassword[];
  /** Safe twice and without start. */
  stop(deadlineMs: number): Promise<void>;
}

export interface StartedServices {
  readonly services: ApiServices;
  stop(): Promise<void>;
}

interface ApiOptions {
  readonly settings: ApiSettings;
  /** Called when the API starts. */
  readonly createServices: () => Promise<StartedServices>;
}

/**
 * Share of the time that a stop may take; the rest is the pipeline's, which the last audit records still go through.
 */
export const apiStopShare = 0.2;

export function createApi({ settings, createServices }: ApiOptions): Api {
  let server: ApiHttpServer | undefined;
  let stopServices: (() => Promise<void>) | undefined;
  let firstPasswords: readonly FirstPassword[] = [];
  return {
    async start() {
      const { createApiServer } = await import('./http/server.js');
      const { services, stop } = await createServices();
      stopServices = stop;
      server = await createApiServer({ options: settings, services });
      await server.start();
      firstPasswords = await services.access.makeDefaultUsers();
      const { createViewsAtStart } = await import('./http/search/shipped.js');
      await createViewsAtStart(services);
    },
    address: () => server?.address(),
    firstPasswords: () => firstPasswords,
    async stop(deadlineMs) {
      await server?.stop(deadlineMs);
      await stopServices?.();
      server = undefined;
      stopServices = undefined;
    },
  };
}
