/** What Linux tells about TCP connections, as its table has it. */
import t from 'tap';
import { looksOf } from '../../../sinks/outputs/senders/kernel-queue.js';

const head = '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n';
const line = (
  ports: string,
  state: string,
  queued: string,
  timer: string,
  unanswered: number,
  sentAgain = '00000000',
): string =>
  `   7: 0100007F:${ports.slice(0, 4)} 0100007F:${ports.slice(4)} ${state} ${queued}:00000000 ${timer}:0000001C ${sentAgain}     0        ${unanswered} 2600287 3 00000000d5f6a1ca 20 4 31 10 -1\n`;

t.test('connections by their ports, established ones alone', async (t) => {
  const looks = looksOf(
    head + line('99DB2FA9', '01', '00000010', '01', 0) + line('99DC2FA9', '0A', '00000020', '00', 0),
  );
  t.strictSame([...looks], [['99DB:2FA9', { unacknowledged: 16, hangs: true }]]);
});

t.test(
  'a closed window that the other system answers for is a program that reads nothing; without answers nobody is there',
  async (t) => {
    t.equal(looksOf(head + line('00010002', '01', '00280000', '04', 0)).get('0001:0002')?.hangs, true);
    t.equal(looksOf(head + line('00010002', '01', '00280000', '04', 1)).get('0001:0002')?.hangs, true);
    t.equal(
      looksOf(head + line('00010002', '01', '00280000', '04', 5)).get('0001:0002')?.hangs,
      false,
      'probes without an answer',
    );
    t.equal(
      looksOf(head + line('00010002', '01', '00280000', '01', 0, '00000001')).get('0001:0002')?.hangs,
      false,
      'sent again, since it was not acknowledged',
    );
    t.equal(
      looksOf(head + line('00010002', '01', '00280000', '01', 0)).get('0001:0002')?.hangs,
      true,
      'the window closed over what was on its way',
    );
  },
);

t.test('of two lines for the same ports, over IPv4 and IPv6, the one with more in its queue', async (t) => {
  const looks = looksOf(
    line('00010002', '01', '00000000', '00', 0) +
      line('00010002', '01', '00000005', '04', 0) +
      line('00010002', '01', '00000003', '00', 0),
  );
  t.strictSame(looks.get('0001:0002'), { unacknowledged: 5, hangs: true });
});
