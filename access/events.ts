import { defineEvents } from '../core/events.js';

export const accessEvents = defineEvents({
  peopleUnread: {
    level: 'warn',
    message: 'users and roles could not be read again; what was read before stays',
    fields: { error: 'text', prefix: 'text' },
  },
  storedPersonUnread: {
    level: 'error',
    message: 'a stored user or role cannot be read, and is left out',
    fields: { error: 'text' },
  },
  lastUseNotNoted: {
    level: 'warn',
    message: 'the last use of a session or token could not be noted',
    fields: { error: 'text' },
  },
  storedSessionUnread: {
    level: 'warn',
    message: 'a stored session or token cannot be read, and is left out',
    fields: { error: 'text' },
  },
  directoryMappingEmpty: {
    level: 'warn',
    message: (setting, got) => `a mapping of the directory gives nothing: ${setting} is ${got}`,
    fields: { setting: 'text', got: 'text', allowed: 'text' },
  },
  directorySettingsRefused: {
    level: 'error',
    message: 'the stored settings of the directory cannot be read: only local users log in',
    fields: { error: 'text' },
  },
  directorySettingsUnread: {
    level: 'warn',
    message: 'the settings of the directory could not be read again',
    fields: { error: 'text' },
  },
  directoryUnasked: {
    level: 'warn',
    message: 'the directory could not be asked about a login',
    fields: { error: 'text' },
  },
  roleMissed: {
    level: 'warn',
    message: 'a user of the directory has no role: no entry of role_mapping fits, and default_roles is empty',
    fields: { user: 'text' },
  },
  localNameTaken: {
    level: 'warn',
    message: 'a user of the directory has the name of a local one, and is refused',
    fields: { user: 'text' },
  },
  endedSessionsRetained: {
    level: 'warn',
    message: 'ended sessions could not be removed',
    fields: { error: 'text' },
  },
});
