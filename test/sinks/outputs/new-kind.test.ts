/** A kind of outputs of its own, from its settings to its bytes: what a new one takes is in this file. */
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { Ajv } from 'ajv';
import t from 'tap';
import { Type } from 'typebox';
import { defineOutputFormat } from '../../../schemas/outputs/format.js';
import { outputFormats } from '../../../schemas/outputs/formats.js';
import { outputSchemaOf, type OutputSettings } from '../../../schemas/outputs/output.js';
import type { Encoder } from '../../../sinks/outputs/contract.js';
import { defineOutput } from '../../../sinks/outputs/define.js';
import { outputKinds, outputTransport } from '../../../sinks/outputs/registry.js';
import { tcpLink } from '../../../sinks/outputs/senders/links.js';
import { outputOf, recordOf } from './settings.js';

interface LinesSettings {
  readonly end: string;
}

const linesFormat = defineOutputFormat<'lines', LinesSettings>({
  type: 'lines',
  title: 'LINES',
  description: 'Lines of text',
  protocols: ['tcp'],
  settings: Type.Object(
    { end: Type.Optional(Type.String({ description: 'Ends a line.', default: '\n' })) },
    { additionalProperties: false },
  ),
  only: {},
  secrets: [],
  defaults: () => ({ end: '\n' }),
  check: () => [],
});

const linesOutput = defineOutput(linesFormat, {
  tcp: {
    link: tcpLink,
    encoder: ({ end }): Encoder => ({
      encode(records, from) {
        const bytes = Buffer.from(
          records
            .slice(from)
            .map(({ value }) => `${value.toString()}${end}`)
            .join(''),
        );
        const [messages, nextOffset] = [records.length - from, (records.at(-1)?.offset ?? 0) + 1];
        return { to: records.length, parcel: { parts: [bytes], bytes: bytes.length, messages, nextOffset } };
      },
    }),
  },
});

t.test('its settings are part of the schema of outputs', async (t) => {
  const validate = new Ajv({ strict: false }).compile(outputSchemaOf([...outputFormats, linesFormat]));
  t.equal(validate({ id: 'mine', type: 'lines', host: 'siem', port: 1, lines: { end: ';' } }), true);
  t.equal(validate({ id: 'mine', type: 'lines', lines: { start: ';' } }), false, 'an unknown key of its section');
  t.equal(validate({ id: 'mine', type: 'verses' }), false, 'an unknown type');
});

t.test('every format has a sender', async (t) => {
  const known = new Set(outputKinds.map(({ format }) => format.type));
  const missing = outputFormats.map(({ type }) => type).filter((type) => !known.has(type));
  t.same(missing, [], 'add each of these formats of schemas/outputs/formats.ts to sinks/outputs/registry.ts');
});

t.test('its messages arrive', async (t) => {
  const server = createServer().listen(0, '127.0.0.1');
  t.teardown(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const settings = { ...outputOf({ port }), type: 'lines', lines: { end: ';' } } as unknown as OutputSettings;
  const transport = outputTransport({ type: 'lines', protocol: 'tcp' }, [...outputKinds, linesOutput]);
  const context = {
    documentOf: () => undefined,
    overLong: () => undefined,
    files: { folder: undefined, read: () => Buffer.alloc(0) },
    listeners: () => [],
  };
  const connected = once(server, 'connection');
  const connection = await transport.link(settings, context as never).connect(new AbortController().signal);
  const [socket] = (await connected) as [NodeJS.ReadableStream];
  const { parcel } = transport.encoder(settings, context as never).encode([recordOf('one', 0), recordOf('two', 1)], 0);
  await connection.write(parcel);
  const [bytes] = (await once(socket, 'data')) as [Buffer];
  t.equal(bytes.toString(), 'one;two;');
  connection.destroy();
});

t.test('a format has a transport for each of its protocols', async (t) => {
  t.same(
    outputKinds.map(({ format, transports }) => [format.type, Object.keys(transports)]),
    outputFormats.map(({ type, protocols }) => [type, [...protocols]]),
  );
});
