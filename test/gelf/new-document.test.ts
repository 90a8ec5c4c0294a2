import { setFlagsFromString } from 'node:v8';
import { runInThisContext } from 'node:vm';
import t from 'tap';
import { newDocument } from '../../gelf/new-document.js';

setFlagsFromString('--allow-natives-syntax');
const hasFastFields = runInThisContext('(object) => %HasFastProperties(object)') as (object: object) => boolean;

t.test('a document is a plain, empty object', async (t) => {
  t.strictSame(newDocument(), {});
  t.equal(Object.getPrototypeOf(newDocument()), Object.prototype);
});

t.test('as many fields as forwarders send leave a document quick to read and write', async (t) => {
  const document = newDocument();
  for (let number = 0; number < 60; number += 1) document[`field_${number}`] = number;
  t.ok(hasFastFields(document));
});
