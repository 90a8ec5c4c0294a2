/** Rules of our own. */
import type { ContractRow } from './row.js';

const when = { field: 'app', equals: 'shop' };
const message = { source: 'a', message: 'x', app: 'shop' };

export const rulesRows: readonly ContractRow[] = [
  ['GET', '/api/rules', 200],
  ['POST', '/api/rules', 201, { name: 'red', when, then: [{ set: { field: 'team', value: 'red' } }] }],
  ['POST', '/api/rules', 409, { name: 'red', when, then: [{ drop: {} }] }],
  ['POST', '/api/rules', 400, { when: { fild: 1 } }],
  ['GET', '/api/rules/red', 200],
  ['GET', '/api/rules/none', 404],
  ['PUT', '/api/rules/red', 200, { enabled: false }],
  ['PUT', '/api/rules/red', 400, { when: { fild: 1 } }],
  ['PUT', '/api/rules/own-rule', 409, {}],
  ['PUT', '/api/rules/none', 404, {}],
  ['POST', '/api/rules/red/try', 200, { message }],
  ['POST', '/api/rules/none/try', 404, { message }],
  ['POST', '/api/rules/red/try', 400, {}],
  ['POST', '/api/rules/try', 200, { when, then: [{ drop: true }], message }],
  ['POST', '/api/rules/try', 400, { when: { fild: 1 }, message }],
  ['POST', '/api/rules/try/history', 200, { when, messages: 10 }],
  ['POST', '/api/rules/try/history', 400, { when: { never: 1 } }],
  ['DELETE', '/api/rules/own-rule', 409],
  ['DELETE', '/api/rules/red', 204],
  ['DELETE', '/api/rules/red', 404],
];
