/** The command line: argv → settings → what is to be done → exit code. The only place that ends the process. */
import { buildProgram } from './cli/program.js';
import { reportFailure } from './cli/failure.js';

try {
  await buildProgram().parseAsync(process.argv);
} catch (error) {
  process.exitCode = reportFailure(error);
}
