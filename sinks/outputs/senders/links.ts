/** Links from the settings of an output. */
import type { OutputSettings } from '../../../schemas/outputs/output.js';
import type { Link } from '../contract.js';
import type { OutputContext } from '../define.js';
import { createHttpLink, type HttpLinkOptions } from './http.js';
import { createTcpLink, type TcpLinkOptions } from './tcp.js';
import { createUdpLink } from './udp.js';

const tcpOptions = (settings: OutputSettings, { files, listeners, lookUp }: OutputContext): TcpLinkOptions => ({
  name: settings.type,
  host: settings.host,
  port: settings.port,
  tls: settings.tls,
  files,
  listeners,
  lookUp,
  connectTimeoutMs: settings.connect_timeout_ms,
  writeTimeoutMs: settings.write_timeout_ms,
  hangTimeoutMs: settings.hang_timeout_ms,
});

export const tcpLink = (settings: OutputSettings, context: OutputContext): Link =>
  createTcpLink(tcpOptions(settings, context));

export const httpLink = (settings: OutputSettings, context: OutputContext, requests: HttpLinkOptions['gelf']): Link =>
  createHttpLink({ ...tcpOptions(settings, context), gelf: requests });

export const udpLink = ({ type, host, port }: OutputSettings, { listeners, lookUp }: OutputContext): Link =>
  createUdpLink({ name: type, host, port, listeners, lookUp });
