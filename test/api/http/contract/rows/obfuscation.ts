/** Obfuscation, in our words and in those of the plugin. */
import type { ContractRow } from './row.js';

const form = { headers: { 'content-type': 'application/x-www-form-urlencoded', accept: '*/*' } };
const plugin = '/api/plugins/org.example.obfuscation/obfuscation';

export const obfuscationRows: readonly ContractRow[] = [
  ['GET', '/api/system/obfuscation', 200],
  ['PUT', '/api/system/obfuscation', 200, { enabled: true }],
  ['PUT', '/api/system/obfuscation', 400, { patterns: [{ id: 'bad', pattern: '(' }] }],
  ['POST', '/api/system/obfuscation/try', 200, { text: 'it is 123-45-6789' }],
  ['POST', '/api/system/obfuscation/try', 400, {}],
  ['GET', `${plugin}/configuration`, 200],
  ['POST', `${plugin}/configuration`, 200, { 'is-obfuscation-enabled': false }, { headers: { accept: '*/*' } }],
  ['POST', `${plugin}/configuration`, 400, { 'field-names': 5 }, { headers: { accept: '*/*' } }],
  ['GET', `${plugin}/replacers`, 200],
  ['POST', plugin, 200, { text: 'it is 123-45-6789' }],
  ['POST', plugin, 400, {}],
  ['DELETE', '/api/system/obfuscation', 204],
  ['PUT', `${plugin}/configuration/sync`, 200, 'sync_mode=skip', form],
  ['PUT', `${plugin}/configuration/sync`, 400, 'sync_mode=x', form],
  ['PUT', `${plugin}/configuration/reset`, 200, undefined, { headers: { accept: '*/*' } }],
  ['PUT', `${plugin}/configuration/restore`, 200, undefined, { headers: { accept: '*/*' } }],
  ['POST', `${plugin}/regex/compile/test`, 200, ['(', { pattern: 'a+' }]],
  ['POST', `${plugin}/regex/compile/test`, 400, {}],
  ['POST', plugin, 200, 'it is 123-45-6789', { headers: { 'content-type': 'text/plain' } }],
];
