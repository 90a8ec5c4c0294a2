/**
 * One message after the other over HTTP, ten a second: how long each waits for its 202 while others load the program.
 */
import { Agent, request } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';

export interface Probe {
  /** Milliseconds. */
  readonly latencies: number[];
  readonly failures: string[];
  stop(): Promise<void>;
}

const pauseMs = 100;

export function probeHttp(host: string, port: number): Probe {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const latencies: number[] = [];
  const failures: string[] = [];
  let stopped = false;
  const post = (body: string): Promise<number | string> =>
    new Promise((resolve) => {
      const asked = request(
        { agent, host, port, method: 'POST', path: '/gelf', headers: { 'content-length': body.length } },
        (response) => {
          response.resume();
          response.once('end', () => {
            resolve(response.statusCode ?? 0);
          });
        },
      );
      asked.once('error', (error) => {
        resolve(error.message);
      });
      asked.end(body);
    });
  const running = (async () => {
    while (!stopped) {
      const began = performance.now();
      const status = await post(`{"version":"1.1","host":"probe","short_message":"probe ${latencies.length}"}`);
      if (status === 202) latencies.push(performance.now() - began);
      else failures.push(`probe: ${status}`);
      await wait(pauseMs);
    }
    agent.destroy();
  })();
  return {
    latencies,
    failures,
    async stop() {
      stopped = true;
      await running;
    },
  };
}
