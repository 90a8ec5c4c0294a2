/** Who calls, and ids that scripts choose. */
export const passwords = { Admin: 'admin-first-password', Operator: 'operator-first-password' } as const;
export const basic = (name: string, password: string): string =>
  `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;
export const id = (digit: string): string => digit.repeat(24);
