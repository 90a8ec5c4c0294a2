/** GELF to a destination. */
import { gelfFormat } from '../../../schemas/outputs/gelf.js';
import { defineOutput } from '../define.js';
import { httpLink, tcpLink, udpLink } from '../senders/links.js';
import { createGelfDatagramEncoder } from './datagrams.js';
import { createGelfRequestEncoder } from './requests.js';
import { createGelfStreamEncoder } from './stream.js';

export const gelfOutput = defineOutput(gelfFormat, {
  tcp: { encoder: () => createGelfStreamEncoder(), link: tcpLink },
  udp: { encoder: createGelfDatagramEncoder, link: udpLink },
  http: {
    encoder: createGelfRequestEncoder,
    link: (settings, context) => httpLink(settings, context, settings.gelf),
  },
});
