/** A kind of receivers that the product does not have: each line of text is a message. All about it stands here. */
import { createServer, type Server } from 'node:net';
import { Type, type Static } from 'typebox';
import type { Receiver } from '../../receivers/contract.js';
import { defineReceiver } from '../../receivers/define.js';
import { listenOn, type BoundAddress } from '../../receivers/listen/bind.js';
import type { ReceiverContext } from '../../receivers/listen/context.js';
import { bytes, secret } from '../../schemas/config/common.js';
import { listenSettings, timestampSetting } from '../../schemas/config/receivers.js';

const settings = Type.Object(
  {
    type: Type.Literal('text_lines'),
    ...listenSettings('text-lines', 5140),
    max_line_bytes: bytes('Longest line.', 64 * 1024),
    password: secret('What a sender begins with.'),
    timestamp: timestampSetting,
  },
  { additionalProperties: false },
);
type LineOptions = Static<typeof settings>;

export const lineReceiver = defineReceiver({
  type: 'text_lines',
  title: 'Lines of text',
  transport: 'tcp',
  settings,
  messageLimit: 'max_line_bytes',
  graylogSettings: { max_message_size: 'max_line_bytes' },
  warnings: ({ max_line_bytes }) =>
    max_line_bytes < 80 ? ['max_line_bytes is below 80: few lines are so short.'] : [],
  create: (options, context) => new LineReceiver(options, context),
});

class LineReceiver implements Receiver {
  readonly name: string;
  readonly #options: LineOptions;
  readonly #context: ReceiverContext;
  readonly #server: Server;
  #bound: BoundAddress | undefined;

  constructor(options: LineOptions, context: ReceiverContext) {
    this.name = options.name;
    this.#options = options;
    this.#context = context;
    this.#server = createServer((socket) => {
      socket.on('data', (data) => void this.#take(data.toString()));
    });
  }

  async start(): Promise<void> {
    this.#bound = await listenOn(this.#server, this.name, this.#options.host, this.#options.port);
  }

  address() {
    return { protocol: 'text-lines', ...(this.#bound ?? this.#options), tls: false };
  }

  async stop(): Promise<void> {
    this.#server.close();
  }

  async #take(text: string): Promise<void> {
    const values = text
      .trim()
      .split('\n')
      .map((line) => Buffer.from(JSON.stringify({ short_message: line })));
    const total = values.reduce((sum, { length }) => sum + length, 0);
    await this.#context.sink.push({
      receiver: this.name,
      lane: 1,
      receivedAt: Date.now(),
      values,
      peers: '127.0.0.1:1',
      bytes: total,
    });
  }
}
