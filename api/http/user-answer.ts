/** A user as the API shows it. */
import type { SessionActivity, User } from '../../access/contract.js';
import type { UserAnswer } from '../../schemas/api-access.js';

interface UserShown {
  readonly activity?: SessionActivity | undefined;
  readonly permissions: boolean;
  readonly directory: boolean;
}

export function userAnswerOf(user: User, { activity, permissions, directory }: UserShown): UserAnswer {
  return {
    id: user.id,
    username: user.username,
    email: user.email,
    first_name: user.firstName,
    last_name: user.lastName,
    full_name: [user.firstName, user.lastName].filter((part) => part !== '').join(' '),
    ...(permissions ? { permissions: [...user.permissions], grn_permissions: [] } : {}),
    preferences: { ...user.preferences },
    timezone: user.timezone ?? null,
    session_timeout_ms: user.sessionTimeoutMs,
    external: user.external,
    startpage: user.startpage ?? null,
    roles: [...user.roles],
    read_only: false,
    session_active: activity?.active ?? false,
    last_activity: activity?.lastActivity === undefined ? null : new Date(activity.lastActivity).toISOString(),
    client_address: activity?.address ?? null,
    account_status: user.enabled ? 'enabled' : 'disabled',
    service_account: user.serviceAccount,
    auth_service_enabled: user.external ? directory : true,
  };
}
