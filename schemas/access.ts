/** Who asks, and what that person may see. Checked once per request (API) and once more in the search layer. */

/** Which messages a search may see. Fails closed: nothing named means nothing found. */
export interface SearchScope {
  /** Ids of streams (as in the rule files) whose messages may be read; `all`: of every stream, also of ones that exist no more. */
  readonly streams: 'all' | readonly string[];
  /** A message that is also in one of these is not shown, whatever other stream it is in (`Audit logs` for those who may not read it). */
  readonly except: readonly string[];
  /** Whether the index set of dead letters may be searched. */
  readonly deadLetters: boolean;
}

/** Everything, for the local operator behind the control socket and for administrators. */
export const unrestrictedScope: SearchScope = { streams: 'all', except: [], deadLetters: true };

/** What a person may do beside reading and editing streams. One word per kind of thing, as in `docs/access.md`. */
export type Capability =
  | 'views:edit' | 'system:read' | 'users:edit' | 'roles:edit' | 'rules:edit' | 'streams:create' | 'index-sets:edit' | 'outputs:edit' | 'receivers:edit'
  | 'dead-letters' | 'obfuscation:edit' | 'authentication:edit' | 'audit:read';

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
