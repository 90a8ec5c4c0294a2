/**
 * The layout: which folder may import which. `x/contract` allows the files named contract.ts of x and of its folders.
 */

/** The stages of a message, in the order of its way. No stage imports another. */
export const stages = ['receivers', 'topics', 'gelf', 'rules', 'sinks'];

const contracts = (...folders) => folders.map((folder) => `${folder}/contract`);
const ground = ['schemas', 'core'];
const everything = [
  ...ground,
  ...stages,
  ...['config', 'definitions', 'state', 'search', 'access', 'api', 'pipeline', 'load'],
];

export const allowed = {
  schemas: [],
  core: [],
  config: ground,
  ...Object.fromEntries(stages.map((stage) => [stage, ground])),
  state: ground,
  load: ground,
  search: ground, // the stores are handed to it
  access: [...ground, ...contracts('state')],
  definitions: [...ground, 'rules', 'config', ...contracts('state')],
  pipeline: [...ground, ...contracts(...stages, 'definitions', 'state')],
  api: [...ground, ...contracts(...stages, 'definitions', 'state', 'search', 'access', 'pipeline')],
  program: everything,
  cli: [...everything, 'program'],
};

/** Contracts that a port keeps; its registry names the adapters, which only the program chooses among. */
export const ports = ['receivers', 'topics', 'sinks/stores', 'sinks/outputs', 'state'];

/** The folders of pipeline/: each may import those before it. `pipeline` stands for the files directly in it. */
export const pipelineOrder = [
  'pipeline/delivery', // the protocol as a pure state machine
  'pipeline', // what travels: index batches, dead letters, origins; errors and metrics
  'pipeline/ledger', // the durable records
  'pipeline/monitoring',
  'pipeline/forwarding',
  'pipeline/receive',
  'pipeline/route',
  'pipeline/write',
  'pipeline/settle',
  'pipeline/dead-letters',
  'pipeline/parking',
  'pipeline/consume',
];
