/** The kinds of receivers. A new one is a file that defines it and a line here. */
import type { ReceiverKind } from './define.js';
import { gelfHttp } from './gelf-http.js';
import { gelfTcp } from './gelf-tcp.js';
import { gelfUdp } from './gelf-udp.js';

export const receiverKinds: readonly ReceiverKind[] = [gelfTcp, gelfUdp, gelfHttp];
