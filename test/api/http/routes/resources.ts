/** What the tests of single resources share. */
import type { Test } from 'tap';
import { apiRoutes } from '../../../../api/http/routes.js';
import { startRunning, type Running } from './running.js';

const files = {
  'own.yaml':
    'index_sets: [{id: filed, description: Of the file.}]\nrules: [{id: own-rule, when: {always: true}, then: [{set: {field: seen, value: yes}}]}]\noutputs: [{id: own-output, type: gelf, host: 127.0.0.1, port: 9, enabled: false}]',
};

/** Every route over one running pipeline, with an index set, a rule and an output from a file. */
export const startResources = (t: Test): Promise<Running> => startRunning(t, { routes: apiRoutes, files });

/** A list within an answer. */
export const list = (body: Record<string, unknown>, key: string) => body[key] as readonly Record<string, unknown>[];
