import { defineEvents } from '../core/events.js';

export const receiverEvents = defineEvents({
  senderDiagnosed: {
    level: 'warn',
    message: (finding, peer, cure) => `${finding} Sender: ${peer}. ${cure}`,
    fields: { diagnosis: 'text', receiver: 'text', peer: 'text', got: 'text?', suppressed: 'number', cure: 'text' },
  },
  pushFailed: {
    level: 'warn',
    message: (text) => text,
    fields: { receiver: 'text', error: 'text' },
  },
  receiverFailed: {
    level: 'error',
    message: (text) => text,
    fields: { receiver: 'text', error: 'text' },
  },
  requestFailed: {
    level: 'error',
    message: 'A request could not be answered as it should.',
    fields: { receiver: 'text', error: 'text' },
  },
  kernelDropsUnknown: {
    level: 'info',
    message: 'This system does not tell how many datagrams the kernel drops (/proc/net/udp).',
    fields: { receiver: 'text' },
  },
  receiveBufferRefused: {
    level: 'warn',
    message: 'The kernel refused the receive buffer size.',
    fields: { receiver: 'text', asked: 'number', error: 'text' },
  },
  receiveBufferShort: {
    event: 'receive_buffer_granted',
    level: 'warn',
    message: (granted, asked) =>
      `The kernel granted a receive buffer of ${granted} bytes where ${asked} were asked for: bursts may be dropped. Raise net.core.rmem_max to ${asked}.`,
    fields: { receiver: 'text', asked: 'number', granted: 'number' },
  },
  receiveBufferGranted: {
    level: 'info',
    message: (granted) => `UDP receive buffer: ${granted} bytes.`,
    fields: { receiver: 'text', asked: 'number', granted: 'number' },
  },
});
