/** Receivers, as inputs and in our own words. */
import type { ContractRow } from './row.js';

export const inputsRows: readonly ContractRow[] = [
  ['GET', '/api/system/inputs', 200],
  ['GET', '/api/system/inputs/types', 200],
  [
    'POST',
    '/api/system/inputs',
    201,
    { title: 'Second door', type: 'gelf_tcp', configuration: { host: '127.0.0.1', port: 0 } },
  ],
  ['POST', '/api/system/inputs', 400, { title: 'x' }],
  ['POST', '/api/system/inputs', 400, { title: 'x', type: 'gelf_tcp', configuration: { toString: 1 } }],
  [
    'POST',
    '/api/system/inputs',
    400,
    { title: 'x', type: 'gelf_tcp', configuration: { tls_client_auth: { toString: 1 } } },
  ],
  ['GET', '/api/system/inputs/second-door', 200],
  ['GET', '/api/system/inputs/none', 404],
  ['PUT', '/api/system/inputs/second-door', 201, { title: 'Second' }],
  ['PUT', '/api/system/inputs/second-door', 400, { configuration: { colour: 'red' } }],
  ['PUT', '/api/system/inputs/gelf-tcp', 409, { title: 'x' }],
  ['PUT', '/api/system/inputs/none', 404, {}],
  ['GET', '/api/system/inputstates', 200],
  ['GET', '/api/system/inputstates/second-door', 200],
  ['GET', '/api/system/inputstates/none', 404],
  ['DELETE', '/api/system/inputstates/second-door', 200],
  ['PUT', '/api/system/inputstates/second-door', 200],
  ['DELETE', '/api/system/inputstates/gelf-tcp', 409],
  ['DELETE', '/api/system/inputstates/none', 404],
  ['PUT', '/api/system/inputstates/none', 404],
  ['DELETE', '/api/system/inputs/gelf-tcp', 409],
  ['DELETE', '/api/system/inputs/second-door', 204],
  ['DELETE', '/api/system/inputs/second-door', 404],
];
