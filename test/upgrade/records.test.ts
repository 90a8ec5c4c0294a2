/** Single records of a newer program: never taken for foreign, damaged or empty ones. */
import t from 'tap';
import { decodeSequences, encodeSequences } from '../../pipeline/delivery/sequences.js';
import { parkedRecord, unparkedRecord } from '../../pipeline/parking/envelope.js';
import { assertOurs } from '../../topics/kafka/records/decode-records.js';
import { consumedRecord } from '../../topics/kafka/records/consumed-records.js';

t.test(
  "metadata of a commit: this version is read, a newer one refused, none and another program's know nothing",
  (t) => {
    const prefix = '0190a1b2c3d4deadbeef-0001-';
    t.same([...decodeSequences(encodeSequences(new Map([[prefix, 77]])))], [[prefix, 77]]);
    t.equal(decodeSequences('').size, 0);
    t.equal(decodeSequences('moved by hand').size, 0);
    t.throws(() => decodeSequences(`2 ${prefix}4d`), { code: 'FORMAT_NEWER', retryable: false });
    t.throws(() => decodeSequences('999'), { code: 'FORMAT_NEWER' });
    t.end();
  },
);

t.test('a parked record: this version is opened, a foreign one is none, a newer one is refused', (t) => {
  const record = { key: 'k', timestamp: 1, origin: 'r p', offset: 9, value: Buffer.from('{"host":"h"}') };
  const header = { topic: 'logs', generation: 4, partition: 1, offset: 9, epoch: 2, index: 'sluice_default_0' };
  const parked = { ...parkedRecord(record, header), offset: 0 };
  t.same(unparkedRecord(parked)?.header, header);
  t.same(unparkedRecord(parked)?.record.value, record.value);
  t.equal(unparkedRecord({ ...parked, value: Buffer.from('{"some":"thing"}\n') }), undefined);
  t.throws(() => unparkedRecord({ ...parked, value: Buffer.from('{"format":2,"from":["logs",4,1,9]}\n{}') }), {
    code: 'FORMAT_NEWER',
  });
  t.end();
});

t.test('a record of Kafka: foreign headers pass, the header of a newer version is refused', (t) => {
  const message = { offset: '5', key: null, value: Buffer.from('{}'), timestamp: '1' };
  t.equal(consumedRecord({ ...message, headers: { trace: 'abc', 'origin.note': 'x' } }).origin, '');
  t.equal(consumedRecord({ ...message, headers: { origin: 'receiver peer' } }).origin, 'receiver peer');
  t.throws(() => consumedRecord({ ...message, headers: { 'origin.2': 'receiver peer' } }), { code: 'FORMAT_NEWER' });
  t.throws(() => assertOurs('origin.3'), { code: 'FORMAT_NEWER' });
  t.end();
});
