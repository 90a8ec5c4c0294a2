/** `10.0.0.7:51312` or `[fe80::1]:51312`; an IPv4 address that came through an IPv6 socket is shown as IPv4. */
export function peerText(address: string | undefined, port: number | undefined): string {
  if (address === undefined) return 'unknown';
  if (!address.includes(':')) return `${address}:${port ?? 0}`;
  return address.startsWith('::ffff:') && address.includes('.')
    ? `${address.slice(7)}:${port ?? 0}`
    : `[${address}]:${port ?? 0}`;
}

/** The address of a peer without its port: what a sender keeps across connections. */
export function peerAddress(peer: string): string {
  const colon = peer.lastIndexOf(':');
  return colon === -1 ? peer : peer.slice(0, colon);
}
