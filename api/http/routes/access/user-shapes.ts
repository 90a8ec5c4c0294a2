/** What the routes of users share. */
import { Type } from 'typebox';
import { nameParameter } from '../../../../schemas/api-access.js';

export const tags = ['Users'];
export const params = nameParameter('username', 'Name, in any case, or id.');
export const byName = (request: { params: unknown }): string => (request.params as { username: string }).username;
export const none = { 204: Type.Null({ description: 'Done.' }) };
/** JSON has no empty value: null would be sent as its four letters. */
export const emptyBody = '' as unknown as null;
