/**
 * One success of every route at least, and the errors that are its own, in an order in which each finds what it needs.
 */
import { programRows } from './rows/program.js';
import { accessRows } from './rows/access.js';
import { searchesRows } from './rows/searches.js';
import { streamsRows } from './rows/streams.js';
import { indexSetsRows } from './rows/index-sets.js';
import { outputsRows } from './rows/outputs.js';
import { inputsRows } from './rows/inputs.js';
import { rulesRows } from './rows/rules.js';
import { pipelinesRows } from './rows/pipelines.js';
import { deployedRows } from './rows/deployed.js';
import { obfuscationRows } from './rows/obfuscation.js';
import { deadLetterRows } from './rows/dead-letters.js';
import type { ContractRow, Step } from './rows/row.js';

export const contractRows: readonly (ContractRow | Step)[] = [
  ...programRows,
  ...accessRows,
  ...searchesRows,
  ...streamsRows,
  ...indexSetsRows,
  ...outputsRows,
  ...inputsRows,
  ...rulesRows,
  ...pipelinesRows,
  ...deployedRows,
  ...obfuscationRows,
  ...deadLetterRows,
];
