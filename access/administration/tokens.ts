/** Access tokens: for programs, in place of the password of a user. */
import { randomBytes } from 'node:crypto';
import type { Identity } from '../../schemas/access.js';
import type { Token, TokenAdministration } from '../contract.js';
import { accessErrors } from '../errors.js';
import { checkName } from '../stored/names.js';
import { findUser, type AdministrationParts } from './parts.js';
import { covers } from '../rights/rights.js';
import type { ListedSecret } from '../stored/secrets.js';
import type { TokenRecord, UserRecord } from '../stored/records.js';

const maxTokensOfUser = 100;

export function createTokenAdministration(parts: AdministrationParts): TokenAdministration {
  const { tokens, settings, now } = parts;
  const tokensOf = async (userId: string): Promise<readonly ListedSecret<TokenRecord>[]> =>
    (await tokens.list()).filter(({ value }) => value.user_id === userId);
  return {
    tokens: async (by, nameOrId) => (await tokensOf(owner(parts, by, nameOrId).id)).map(({ value }) => tokenOf(value)),
    async createToken(by, nameOrId, name, ttlMs) {
      const user = owner(parts, by, nameOrId);
      const checked = checkName('the name of the token', name);
      const lifetime = ttlMs ?? settings.token_ttl_ms;
      const existing = await tokensOf(user.id);
      if (existing.length >= maxTokensOfUser)
        throw accessErrors.create('ACCESS_LIMIT_REACHED', { got: `${maxTokensOfUser} tokens of the user` });
      if (existing.some(({ value }) => value.name === checked))
        throw accessErrors.create('ACCESS_NAME_TAKEN', { got: JSON.stringify(checked) });
      const record: TokenRecord = {
        id: randomBytes(12).toString('hex'),
        user_id: user.id,
        name: checked,
        created_at: now(),
        expires_at: lifetime === 0 ? undefined : now() + lifetime,
      };
      return { ...tokenOf(record), secret: await tokens.create(record) };
    },
    async deleteToken(by, nameOrId, idOrSecret) {
      const user = owner(parts, by, nameOrId);
      const bySecret = await tokens.find(idOrSecret);
      const id = bySecret?.user_id === user.id ? bySecret.id : idOrSecret;
      const token = (await tokensOf(user.id)).find(({ value }) => value.id === id);
      if (token === undefined) throw accessErrors.create('ACCESS_TOKEN_UNKNOWN');
      await tokens.removeListed(token);
      return tokenOf(token.value);
    },
  };
}

/** One's own, or those of a user whose rights one has: a token is as good as the password. */
function owner(parts: AdministrationParts, by: Identity, nameOrId: string): UserRecord {
  const user = findUser(parts, by, nameOrId);
  if (user.id !== by.userId && !covers(by, parts.people.rightsOf(user)))
    throw accessErrors.create('ACCESS_FORBIDDEN', { allowed: 'somebody with all rights of that user' });
  return user;
}

function tokenOf({ id, name, created_at: createdAt, used_at: lastAccess, expires_at: expiresAt }: TokenRecord): Token {
  return { id, name, createdAt, lastAccess, expiresAt };
}
