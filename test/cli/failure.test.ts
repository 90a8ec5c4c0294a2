/** How a command ends: 2 for what whoever asked has to change, whether this process or the running program found it. */
import t from 'tap';
import { apiErrors } from '../../api/errors.js';
import { accessErrors } from '../../access/errors.js';
import { reportFailure } from '../../cli/failure.js';
import { configErrors } from '../../config/errors.js';
import { tellError, toldError } from '../../core/process/told-error.js';
import { storeErrors } from '../../sinks/stores/errors.js';

const systemError = (code: string): Error => Object.assign(new Error(`${code}: no`), { code });
const cases: readonly [what: string, error: Error, exitCode: number][] = [
  ['a setting', configErrors.create('CONFIG_VALUE_INVALID'), 2],
  ['a user that is not there', accessErrors.create('ACCESS_USER_UNKNOWN'), 2],
  ['nothing runs', apiErrors.create('API_NOT_RUNNING'), 2],
  ['the store is away', storeErrors.create('STORE_UNAVAILABLE'), 1],
  ['a folder of somebody else', systemError('EACCES'), 2],
  ['a reader that went away', systemError('EPIPE'), 1],
  ['anything else', new Error('no'), 1],
];

t.test('the exit code is the one that the error declares', async (t) => {
  t.capture(process.stderr, 'write', () => true);
  for (const [what, error, exitCode] of cases) {
    t.equal(reportFailure(error), exitCode, what);
    const told = toldError(tellError(error));
    t.equal(reportFailure(told), exitCode, `${what}, told by another process`);
    t.equal(told.message, error.message, what);
  }
});
