import type { Attack } from './contract.js';
import { httpAttacks } from './http.js';
import { tcpAttacks } from './tcp.js';
import { udpAttacks } from './udp.js';

export const attacks: readonly Attack[] = [...tcpAttacks, ...udpAttacks, ...httpAttacks];
