/** SYSLOG to a destination. */
import { syslogFormat } from '../../../schemas/outputs/syslog.js';
import { defineOutput } from '../define.js';
import { tcpLink, udpLink } from '../senders/links.js';
import { createSyslogDatagramEncoder, createSyslogStreamEncoder } from './encoder.js';

export const syslogOutput = defineOutput(syslogFormat, {
  tcp: { encoder: createSyslogStreamEncoder, link: tcpLink },
  udp: { encoder: createSyslogDatagramEncoder, link: udpLink },
});
