/** Returns whether a connection uses TLS. On Bun, the sockets of connections without TLS also have `encrypted`. */
export function isEncryptedSocket(socket: object): boolean {
  return "encrypted" in socket && socket.encrypted === true;
}
