/** Opens the data folder that it is given as the program does at its start; killed by a test. */
import { loadConfig } from '../../program/settings.js';
import { createLog } from '../../core/log.js';
import { openDataFolder } from '../../program/upgrade/data-folder.js';

const { config } = loadConfig({ environment: {}, folder: '/nonexistent', overrides: { data_folder: process.argv[2] } });
process.stdout.write('begins\n');
await openDataFolder(config, true, createLog('info'));
