/** Who asks, and what that person may see. Checked once per request (API) and once more in the search layer. */

/** Which messages a search may see. Fails closed: nothing named means nothing found. */
export interface SearchScope {
  /**
   * Ids of streams (as in the rule files) whose messages may be read; `all`: of every stream, also of ones that exist
   * no more.
   */
  readonly streams: 'all' | readonly string[];
  /**
   * A message that is also in one of these is not shown, whatever other stream it is in (`Audit logs` for those who may
   * not read it).
   */
  readonly except: readonly string[];
  /** Whether the index set of dead letters may be searched. */
  readonly deadLetters: boolean;
}

/** Everything, for the local operator behind the control socket and for administrators. */
export const unrestrictedScope: SearchScope = { streams: 'all', except: [], deadLetters: true };

/**
 * What a person may do beside reading and editing streams: one word per kind of thing. The texts are those of
 * `docs/reference/roles.md`.
 */
const capabilityTexts = {
  'views:edit': "Keep searches and views of one's own.",
  'system:read':
    'See the state of the system: receivers, outputs, rules, index sets, warnings, throughput. How many documents an index holds is told only to those who may read all of them, or edit index sets.',
  'users:edit': "Create, change and delete users, and give roles, all within one's own rights.",
  'roles:edit': "Create, change and delete roles within one's own rights.",
  'rules:edit':
    'Change rules, and try them. Rules decide which stream a message goes to, Audit logs too: this opens what comes in from then on.',
  'streams:create':
    'Create streams; whoever creates one reads and edits it. The rules of a stream decide what it holds: this opens what comes in from then on, except for Audit logs.',
  'index-sets:edit': 'Create, change, rotate and delete index sets; close, reopen and delete indices.',
  'outputs:edit': 'Create outputs, and change those whose streams one may edit.',
  'receivers:edit': 'Create, change, start and stop receivers.',
  'dead-letters': 'See, replay and drop dead letters.',
  'obfuscation:edit': 'See and change what is replaced in sensitive messages, from then on.',
  'authentication:edit': 'See and try the settings of the directory; only administrators change them.',
  'audit:read': 'The mark of those who read Audit logs.',
} as const;

export type Capability = keyof typeof capabilityTexts;
export const capabilities: Readonly<Record<Capability, string>> = capabilityTexts;
export const allCapabilities = Object.keys(capabilityTexts) as readonly Capability[];
/** These come with the roles that ship, whatever another role is asked to hold. */
export const administratorCapabilities: ReadonlySet<Capability> = new Set<Capability>(['dead-letters', 'audit:read']);
export const grantableCapabilities = allCapabilities.filter((one) => !administratorCapabilities.has(one));

/** Its messages are for administrators and AuditViewer only, whatever other stream they are in. */
export const auditStream = 'audit-logs';

export const shippedRoleNames = ['Administrator', 'Reader', 'Operator', 'AuditViewer'] as const;

/** A role of a rule file: it can be given, and is changed in its file. */
export interface FileRole {
  /** Its name. */
  readonly id: string;
  readonly description: string;
  /** Ids of streams; `all`: every one but Audit logs, also those that come later. */
  readonly read: 'all' | readonly string[];
  readonly edit: readonly string[];
  readonly capabilities: readonly Capability[];
  readonly file: string;
}

export interface Identity {
  /** 24 hexadecimal characters. */
  readonly userId: string;
  /** As the user was created; compared in any case. */
  readonly username: string;
  readonly roles: readonly string[];
  /** Full rights on the system. */
  readonly administrator: boolean;
  readonly scope: SearchScope;
  /** Ids of streams that may be changed. */
  readonly editableStreams: 'all' | readonly string[];
  readonly capabilities: ReadonlySet<Capability>;
  /** How the request said who it is. */
  readonly by: 'password' | 'session' | 'token';
  readonly sessionId?: string | undefined;
}

export function mayReadStream(scope: SearchScope, stream: string): boolean {
  return !scope.except.includes(stream) && (scope.streams === 'all' || scope.streams.includes(stream));
}

export function mayEditStream(identity: Identity, stream: string): boolean {
  return identity.editableStreams === 'all' || identity.editableStreams.includes(stream);
}

export function has(identity: Identity, capability: Capability): boolean {
  return identity.administrator || identity.capabilities.has(capability);
}
