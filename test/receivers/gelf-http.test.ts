import { Agent, request as httpRequest, type IncomingHttpHeaders, type RequestOptions } from 'node:http';
import { createConnection } from 'node:net';
import { once } from 'node:events';
import zlib, { deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import t from 'tap';
import { contentEncodings } from '../../receivers/inflate/content-encoding.js';
import { gelf, reconcile, startReceiver, until } from './receiving.js';

interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly json: Record<string, unknown>;
}

function send(port: number, body: Buffer | string | undefined, options: RequestOptions = {}): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const request = httpRequest({ host: '127.0.0.1', port, path: '/gelf', method: 'POST', ...options }, (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('end', () => {
        const text = Buffer.concat(parts).toString();
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: text,
          json: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>),
        });
      });
    });
    request.on('error', reject);
    request.end(body);
  });
}

t.test('one message is answered with 202 and no body', async (t) => {
  const running = await startReceiver(t, 'gelf_http');
  const text = '{ "short_message" : "one",\n "_pretty": true }';
  const reply = await send(running.port, text);
  t.match(reply, { status: 202, body: '', headers: { 'content-length': '0' } });
  t.same(running.sink.texts(), [text]);
  t.match(running.sink.batches[0], { receiver: 'gelf-http', lane: 1, peers: /^127\.0\.0\.1:\d+$/ });
  t.equal((await send(running.port, gelf('again'), { path: '/gelf?source=x' })).status, 202);
});

t.test('lines, arrays and objects in a row are batches whose bytes stay as they came', async (t) => {
  const messages = [
    '{"short_message":"a, ]}\\"{"}',
    '{ "short_message" : "b" }',
    '{"short_message":"c","_n":[1,{"x":"]"}]}',
  ];
  for (const [name, body] of Object.entries({
    lines: messages.join('\n'),
    'lines with blanks': `\n${messages.join('\r\n\n')}\n\0`,
    array: `[${messages.join(',')}]`,
    'pretty array': ` [\n  ${messages.join(' ,\n  ')}\n]\n`,
    'array with a last comma': `[${messages.join(',')},]`,
    objects: messages.join(' '),
  })) {
    const { sink, port } = await startReceiver(t, 'gelf_http');
    t.match(await send(port, body), { status: 202, body: '' }, name);
    t.same(sink.texts(), messages, name);
    t.equal(sink.batches.length, 1, name);
  }
});

t.test('compressed bodies are inflated, named or not', async (t) => {
  const { sink, port } = await startReceiver(t, 'gelf_http');
  const cases: [string, Buffer, string | undefined][] = [
    ['gzip', gzipSync(gelf('m')), 'gzip'],
    ['zlib as deflate', deflateSync(gelf('m')), 'deflate'],
    ['raw deflate', deflateRawSync(gelf('m')), 'deflate'],
    ['gzip without header', gzipSync(gelf('m')), undefined],
    ['zlib without header', deflateSync(gelf('m')), undefined],
    ['gzip with header identity', gzipSync(gelf('m')), 'identity'],
    ['plain with header gzip', Buffer.from(gelf('m')), 'gzip'],
    ['plain with header deflate', Buffer.from(gelf('m')), 'deflate'],
    ['zlib named gzip,deflate as graypy does', deflateSync(gelf('m')), 'gzip,deflate'],
    ['gzip twice', gzipSync(gzipSync(gelf('m'))), 'gzip, gzip'],
  ];
  const { zstdCompressSync } = zlib as unknown as { zstdCompressSync?: (bytes: string) => Buffer };
  if (zstdCompressSync !== undefined) cases.push(['zstd', zstdCompressSync(gelf('m')), 'zstd']);
  for (const [name, body, encoding] of cases) {
    const reply = await send(port, body, { headers: encoding === undefined ? {} : { 'content-encoding': encoding } });
    t.equal(reply.status, 202, `${name}: ${reply.body}`);
  }
  t.same(
    sink.shorts(),
    cases.map(() => 'm'),
  );
});

t.test('an encoding that this Node.js cannot undo is 415, and the answer names what it can', async (t) => {
  const { port } = await startReceiver(t, 'gelf_http');
  for (const encoding of [
    'br',
    'gzip, br',
    'gzip, gzip, gzip, gzip',
    ...(contentEncodings.includes('zstd') ? [] : ['zstd']),
  ]) {
    t.match(await send(port, gelf('m'), { headers: { 'content-encoding': encoding } }), {
      status: 415,
      json: { type: 'RECEIVER_ENCODING_UNSUPPORTED', message: /gzip, x-gzip, deflate/ },
    });
  }
});

t.test('202 comes only when the topic has the message', async (t) => {
  const { sink, port } = await startReceiver(t, 'gelf_http');
  sink.hold();
  let answered = false;
  const reply = send(port, gelf('a')).then((value) => {
    answered = true;
    return value;
  });
  await until('the push', () => sink.batches.length === 1);
  await new Promise((resolve) => {
    setTimeout(resolve, 50);
  });
  t.notOk(answered);
  sink.release();
  t.equal((await reply).status, 202);
});

t.test('one bad message is 400 with the reason, and no dead letter', async (t) => {
  const running = await startReceiver(t, 'gelf_http');
  t.match(await send(running.port, '{"host":"a"}'), {
    status: 400,
    headers: { 'content-type': /json/ },
    json: {
      type: 'DECODE_MESSAGE_MISSING',
      message: /short_message/,
      refused: [{ index: 0, code: 'DECODE_MESSAGE_MISSING' }],
    },
  });
  t.match(await send(running.port, '{"short_message":\n "cut'), { status: 400, json: { type: 'DECODE_JSON_INVALID' } });
  t.match(await send(running.port, ''), { status: 400, json: { type: 'RECEIVER_BODY_EMPTY' } });
  t.match(await send(running.port, '[]'), { status: 400, json: { type: 'RECEIVER_BODY_EMPTY' } });
  t.match(await send(running.port, `[${gelf('a')}, {"short`), { status: 400, json: { type: 'RECEIVER_BODY_INVALID' } });
  t.match(await send(running.port, gzipSync(gelf('x')).subarray(0, 20), { headers: { 'content-encoding': 'gzip' } }), {
    status: 400,
    json: { type: 'INFLATE_TRUNCATED' },
  });
  t.equal(running.sink.batches.length, 0);
  t.equal(running.sink.refusals.length, 0);
  t.match(await reconcile(running), { received: 6, decoded: 0, refused: 6, exact: true });
});

t.test('of a batch the good ones are taken, the bad ones dead-lettered and listed', async (t) => {
  const running = await startReceiver(t, 'gelf_http');
  for (const body of [
    `${gelf('a')}\n{"host":"x"}\n${gelf('b')}\n{broken\n`,
    `[${gelf('a')},{"host":"x"},${gelf('b')},7]`,
    `{"host":"x"}\n${gelf('a')}\n${gelf('b')}\n{"x"`,
  ]) {
    const reply = await send(running.port, body);
    t.match(reply, { status: 202, json: { accepted: 2, refused_count: 2 } });
    t.ok(
      (reply.json['refused'] as { index: number; code: string; reason: string }[]).every(
        ({ index, code, reason }) => index >= 0 && code !== '' && reason !== '',
      ),
    );
  }
  t.same(running.sink.shorts(), ['a', 'b', 'a', 'b', 'a', 'b']);
  t.equal(running.sink.refusals.length, 6);
  t.match(running.sink.refusals[0], { receiver: 'gelf-http', code: 'DECODE_MESSAGE_MISSING', rawLength: 12 });
  t.match(await reconcile(running), { received: 12, decoded: 6, refused: 6, exact: true });
});

t.test('a batch without a good message is 400 with the list, and no dead letter', async (t) => {
  const running = await startReceiver(t, 'gelf_http');
  const reply = await send(running.port, '[{"host":"x"},{"short_message":7}]');
  t.match(reply, {
    status: 400,
    json: {
      type: 'RECEIVER_MESSAGES_REFUSED',
      refused: [
        { index: 0, code: 'DECODE_MESSAGE_MISSING' },
        { index: 1, code: 'DECODE_MESSAGE_INVALID' },
      ],
    },
  });
  t.equal(running.sink.refusals.length, 0);
  t.match(await reconcile(running), { received: 2, refused: 2, exact: true });
});

t.test(
  'a body that is too large is 413, by header, by length and after inflation, and the connection goes on',
  async (t) => {
    const { sink, port } = await startReceiver(t, 'gelf_http', { max_body_bytes: 50_000 });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    t.teardown(() => {
      agent.destroy();
    });
    const large = gelf('x'.repeat(500_000));
    t.match(await send(port, large, { agent }), {
      status: 413,
      json: { type: 'RECEIVER_BODY_TOO_LARGE', message: /max_body_bytes/ },
    });
    t.match(await send(port, large, { agent, headers: { 'transfer-encoding': 'chunked' } }), { status: 413 });
    t.match(await send(port, gzipSync(large), { agent, headers: { 'content-encoding': 'gzip' } }), {
      status: 413,
      json: { type: 'INFLATED_TOO_LARGE' },
    });
    t.equal((await send(port, gelf('small'), { agent })).status, 202);
    t.same(sink.shorts(), ['small']);
  },
);

t.test('bodies that arrive at the same time share a bound, and what is beyond it is told to come later', async (t) => {
  const { port } = await startReceiver(t, 'gelf_http', { max_body_bytes: 1000 });
  const sockets = Array.from({ length: 17 }, () => createConnection({ port, host: '127.0.0.1' }));
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
  });
  let answers = '';
  for (const socket of sockets) {
    socket.on('data', (data: Buffer) => {
      answers += data.toString();
    });
    socket.write(`POST /gelf HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n${' '.repeat(950)}`);
  }
  await until('one to be refused', () => answers.includes('429'));
  t.match(answers, /^HTTP\/1\.1 429 [^]*Retry-After: 1[^]*RECEIVER_FULL/);
  for (const socket of sockets) socket.write(gelf('x').padEnd(50).slice(0, 50));
  await until('the others', () => answers.split('HTTP/1.1').length === 18);
});

t.test('a request with too many messages is 413', async (t) => {
  const running = await startReceiver(t, 'gelf_http');
  t.match(await send(running.port, `[${'{},'.repeat(100_001)}]`), {
    status: 413,
    json: { type: 'RECEIVER_DOCUMENTS_TOO_MANY' },
  });
  t.match(await reconcile(running), { received: 0, exact: true });
});

t.test('other paths are 404, other methods 405 with Allow', async (t) => {
  const { port } = await startReceiver(t, 'gelf_http');
  t.match(await send(port, gelf('a'), { path: '/other' }), {
    status: 404,
    json: { type: 'RECEIVER_PATH_UNKNOWN', message: /POST \/gelf/ },
  });
  for (const method of ['GET', 'PUT', 'DELETE', 'OPTIONS']) {
    t.match(
      await send(port, undefined, { method }),
      { status: 405, headers: { allow: 'POST' }, json: { type: 'RECEIVER_METHOD_NOT_ALLOWED' } },
      method,
    );
  }
});

t.test('with a token, requests without it are 401', async (t) => {
  const { sink, port } = await startReceiver(t, 'gelf_http', { token: 'secret' });
  for (const authorization of [undefined, 'Bearer wrong', 'Basic c2VjcmV0', 'secret', 'Bearer secret2']) {
    const reply = await send(port, gelf('a'), { headers: authorization === undefined ? {} : { authorization } });
    t.match(reply, { status: 401, headers: { 'www-authenticate': /^Bearer/ }, json: { type: 'RECEIVER_TOKEN_WRONG' } });
  }
  t.equal((await send(port, gelf('a'), { headers: { authorization: 'Bearer secret' } })).status, 202);
  t.equal(sink.texts().length, 1);
});

t.test('a full pipeline is 429 with Retry-After, and counts nothing as received', async (t) => {
  const running = await startReceiver(t, 'gelf_http');
  running.sink.setFull(true);
  t.match(await send(running.port, gelf('a')), {
    status: 429,
    headers: { 'retry-after': '1' },
    json: { type: 'RECEIVER_FULL' },
  });
  t.match(await reconcile(running), { received: 0, exact: true });
});

t.test('a pipeline that has stopped is 503 with Retry-After', async (t) => {
  const running = await startReceiver(t, 'gelf_http');
  running.sink.fail(new Error('stopped'));
  t.match(await send(running.port, gelf('a')), {
    status: 503,
    headers: { 'retry-after': /\d/ },
    json: { type: 'RECEIVER_STOPPING' },
  });
});

t.test('stop answers what is in progress, refuses what comes after, and closes', async (t) => {
  const { sink, port, receiver } = await startReceiver(t, 'gelf_http');
  const agent = new Agent({ keepAlive: true, maxSockets: 2 });
  t.teardown(() => {
    agent.destroy();
  });
  const open = createConnection({ port, host: '127.0.0.1' });
  t.teardown(() => {
    open.destroy();
  });
  let reply = '';
  open.on('data', (data: Buffer) => {
    reply += data.toString();
  });
  open.write('POST /gelf HTTP/1.1\r\nHost: x\r\n');
  sink.hold();
  const inProgress = send(port, gelf('a'), { agent });
  await until('the push', () => sink.batches.length === 1);
  const stopping = receiver.stop(5000);
  open.write(`Content-Length: ${gelf('b').length}\r\n\r\n${gelf('b')}`);
  await until('the refusal', () => reply.includes('503'));
  t.match(reply, /Retry-After: 5/);
  sink.release();
  t.equal((await inProgress).status, 202);
  await stopping;
  await t.rejects(send(port, gelf('c')));
});

t.test('stop waits for messages whose sender is gone already', async (t) => {
  const { sink, port, receiver } = await startReceiver(t, 'gelf_http');
  sink.hold();
  const socket = createConnection({ port, host: '127.0.0.1' });
  socket.write(`POST /gelf HTTP/1.1\r\nHost: x\r\nContent-Length: ${gelf('a').length}\r\n\r\n${gelf('a')}`);
  await until('the push', () => sink.batches.length === 1);
  socket.destroy();
  let stopped = false;
  const stopping = receiver.stop(5000).then(() => {
    stopped = true;
  });
  await new Promise((resolve) => {
    setTimeout(resolve, 100);
  });
  t.notOk(stopped);
  sink.release();
  await stopping;
});

t.test('Expect: 100-continue is answered before the body is sent, or refused at once', async (t) => {
  const { port } = await startReceiver(t, 'gelf_http', { max_body_bytes: 1000 });
  const ask = async (length: number) => {
    const socket = createConnection({ port, host: '127.0.0.1' });
    t.teardown(() => {
      socket.destroy();
    });
    socket.write(`POST /gelf HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: ${length}\r\n\r\n`);
    const [data] = (await once(socket, 'data')) as [Buffer];
    return { socket, text: data.toString() };
  };
  t.match((await ask(5000)).text, /^HTTP\/1\.1 413/);
  const body = gelf('a');
  const { socket, text } = await ask(body.length);
  t.match(text, /^HTTP\/1\.1 100 Continue/);
  socket.write(body);
  const [data] = (await once(socket, 'data')) as [Buffer];
  t.match(data.toString(), /^HTTP\/1\.1 202/);
});

t.test('what is not HTTP is answered with 400 and a JSON body', async (t) => {
  const running = await startReceiver(t, 'gelf_http');
  const answerTo = async (bytes: string) => {
    const socket = createConnection({ port: running.port, host: '127.0.0.1' });
    socket.write(bytes);
    const [data] = (await once(socket, 'data')) as [Buffer];
    socket.destroy();
    return data.toString();
  };
  t.match(await answerTo(`${gelf('raw')}\0`), /^HTTP\/1\.1 400 [^]*"type":"RECEIVER_REQUEST_INVALID"/);
  t.equal(await running.count('sluice_diagnoses_made_total', { diagnosis: 'gelf_on_http_port' }), 1);
  t.match(
    await answerTo(`POST /gelf HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`),
    /^HTTP\/1\.1 431 [^]*"type":"RECEIVER_HEADER_TOO_LARGE"/,
  );
});

t.test('CORS is off unless it is switched on', async (t) => {
  const origin = { origin: 'https://app.example' };
  const off = await startReceiver(t, 'gelf_http');
  t.equal((await send(off.port, gelf('a'), { headers: origin })).headers['access-control-allow-origin'], undefined);
  const on = await startReceiver(t, 'gelf_http', { cors: true, token: 'secret' });
  t.match(
    await send(on.port, undefined, {
      method: 'OPTIONS',
      headers: { ...origin, 'access-control-request-method': 'POST' },
    }),
    {
      status: 204,
      headers: {
        'access-control-allow-origin': 'https://app.example',
        'access-control-allow-methods': 'POST',
        'access-control-allow-headers': /Authorization/,
      },
    },
  );
  t.match(await send(on.port, gelf('a'), { headers: { ...origin, authorization: 'Bearer secret' } }), {
    status: 202,
    headers: { 'access-control-allow-origin': 'https://app.example' },
  });
});

t.test('requests on one kept-alive connection are answered in order, each its own lane', async (t) => {
  const running = await startReceiver(t, 'gelf_http');
  const socket = createConnection({ port: running.port, host: '127.0.0.1' });
  t.teardown(() => {
    socket.destroy();
  });
  let text = '';
  socket.on('data', (data: Buffer) => {
    text += data.toString();
  });
  const bodies = Array.from({ length: 10 }, (_, index) => gelf(`m${index}`));
  socket.write(
    bodies.map((body) => `POST /gelf HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`).join(''),
  );
  await until('all answers', () => text.split('HTTP/1.1 202').length === 11);
  t.same(
    running.sink.shorts(),
    bodies.map((_, index) => `m${index}`),
  );
  t.equal(new Set(running.sink.batches.map(({ lane }) => lane)).size, 10);
  t.equal(await running.count('sluice_http_requests_answered_total', { status: '202' }), 10);
});
