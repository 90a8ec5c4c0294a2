/** Metrics of access. */
import { defineMetrics } from '../core/metrics.js';

export const accessMetrics = defineMetrics({
  authentications: {
    type: 'counter',
    name: 'sluice_authentications_total',
    help: 'Credentials that were checked, by kind (password, session, token) and outcome (accepted, denied, throttled, unavailable, failed).',
    labels: ['kind', 'outcome'],
  },
  hashes: {
    type: 'counter',
    name: 'sluice_password_hashes_total',
    help: 'Passwords that were hashed; a password that was verified within the last minute is not hashed again.',
  },
  directoryCalls: {
    type: 'counter',
    name: 'sluice_directory_logins_total',
    help: 'Logins that the directory was asked about, by outcome: accepted, denied, unavailable, failed.',
    labels: ['outcome'],
  },
  attemptsWaiting: {
    type: 'gauge',
    name: 'sluice_login_attempts_waiting',
    help: 'Login attempts that are answered later because too many before them were wrong.',
  },
  users: { type: 'gauge', name: 'sluice_users', help: 'Users that are kept.', across: 'max' },
});
