/** The formats of outputs. A new one is a file here and a line. */
import { gelfFormat } from './gelf.js';
import { syslogFormat } from './syslog.js';

export const outputFormats = [gelfFormat, syslogFormat] as const;
