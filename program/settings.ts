/** The settings of this program. */
import { registeredKinds } from './kinds.js';

export const { settings } = registeredKinds;

export const loadConfig = settings.load;
