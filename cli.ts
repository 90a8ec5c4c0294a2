/** The command line: argv → settings → what is to be done → exit code. The only place that ends the process. */
import { holdYoungGeneration } from './core/process/young-generation.js';

// Before anything else is loaded: what lives on begins there.
if (process.argv[2] === 'start') holdYoungGeneration();
const { reportFailure } = await import('./cli/failure.js');
try {
  const { buildProgram } = await import('./cli/program.js');
  await buildProgram().parseAsync(process.argv);
} catch (error) {
  process.exitCode = reportFailure(error);
}
