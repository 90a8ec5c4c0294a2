/** Stands where access and search join: lets nobody in and finds nothing. */
import type { Access } from '../../access/contract.js';
import { apiErrors } from '../errors.js';
import type { Searcher } from '../../search/contract.js';
import { failure } from './failure.js';

const denied = (): Promise<never> => Promise.reject(failure(401, 'Credentials are missing or wrong.'));
const missing = (): never => {
  throw apiErrors.create('API_REQUEST_INVALID', { got: 'a search' });
};

export const noAccess: Access = { start: async () => undefined, stop: async () => undefined, authenticate: denied, openSession: denied, closeSession: async () => undefined };

export const noSearcher: Searcher = { messages: missing, aggregate: missing, rows: missing, tail: missing, message: missing, fields: missing };
