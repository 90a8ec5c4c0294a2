/** Every rule that the sources are held to; one line each. */
import { borrowedTypes } from './rules/borrowed-types.js';
import { defaultExports } from './rules/default-exports.js';
import { duplicates } from './rules/duplicates.js';
import { fileSize } from './rules/file-size.js';
import { folderSize } from './rules/folder-size.js';
import { functionSize } from './rules/function-size.js';
import { importCircles } from './rules/import-circles.js';
import { layout } from './rules/layout.js';
import { lineLength } from './rules/line-length.js';
import { logEvents } from './rules/log-events.js';
import { parameters } from './rules/parameters.js';
import { pipelineFlow } from './rules/pipeline-order.js';
import { registries } from './rules/registries.js';
import { shadowedGlobals } from './rules/shadowed-globals.js';
import { unusedExports } from './rules/unused-exports.js';

export const rules = [
  fileSize,
  functionSize,
  parameters,
  folderSize,
  lineLength,
  importCircles,
  layout,
  registries,
  pipelineFlow,
  borrowedTypes,
  unusedExports,
  defaultExports,
  logEvents,
  shadowedGlobals,
  duplicates,
];
