import type { ControlHandler } from '../control.js';

/** By `METHOD /path`. */
export type ControlRoutes = Readonly<Record<string, ControlHandler>>;
