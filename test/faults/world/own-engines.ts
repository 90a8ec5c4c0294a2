/** Engines for the fault table alone, with small heaps, on free ports, behind proxies that misbehave on request. */
import { join } from 'node:path';
import { freePorts, startEngines, type Engines } from '../../engines.js';
import { createNetwork, type Network } from '../causes/network.js';
import { createTcpProxy, type TcpProxy } from '../causes/tcp-proxy.js';

/**
 * What a row runs on. `brokers`: Kafka as three replicated brokers. `hosts`: programs in network namespaces of their
 * own.
 */
export type EngineSet = 'embedded' | 'cluster' | 'brokers' | 'hosts';

export interface OwnEngines {
  readonly engines: Engines;
  /** Bootstrap addresses for the programs. */
  readonly brokers: readonly string[];
  /** Before the single broker; none before three. */
  readonly kafkaProxy: TcpProxy | undefined;
  readonly network: Network | undefined;
  close(): Promise<void>;
}

const heaps = { KAFKA_HEAP: '384m', OPENSEARCH_HEAP: '640m' };
/** The node measures its disk this often; a full disk is seen and forgotten within this time. */
const openSearchSettings =
  'cluster.routing.allocation.disk.threshold_enabled=true cluster.info.update.interval=10s ' +
  'cluster.routing.allocation.disk.watermark.low=50mb cluster.routing.allocation.disk.watermark.high=40mb cluster.routing.allocation.disk.watermark.flood_stage=30mb';

export async function startOwnEngines(set: Exclude<EngineSet, 'embedded'>, folder: string): Promise<OwnEngines> {
  const home = join(folder, `engines-${set}`);
  const environment = { ...heaps, OPENSEARCH_SETTINGS: openSearchSettings };
  if (set === 'brokers') {
    const engines = await startEngines({ home, brokers: 3, environment });
    return { engines, brokers: engines.kafka, kafkaProxy: undefined, network: undefined, close: () => engines.stop() };
  }
  const network = set === 'hosts' ? await createNetwork() : undefined;
  const kafkaPort = await freePorts(2);
  const host = network?.engines ?? '127.0.0.1';
  const kafkaProxy = await createTcpProxy({ host: '127.0.0.1', port: kafkaPort }, host);
  const engines = await startEngines({
    home,
    kafkaPort,
    environment: { ...environment, KAFKA_ADVERTISED_HOST: host, KAFKA_ADVERTISED_PORT: String(kafkaProxy.port) },
  });
  return {
    engines,
    kafkaProxy,
    network,
    brokers: [`${host}:${kafkaProxy.port}`],
    close: async () => {
      await engines.stop();
      await kafkaProxy.close();
      await network?.close();
    },
  };
}
