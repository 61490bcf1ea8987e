import type { Socket } from "node:net";
import { FairShareLedger } from "../data-structures/index.ts";
import { getAddressHolderKey } from "./remote-address.ts";

/**
 * Returns a listener for the `connection` event of a server, which limits each remote address to a fair share of
 * the connections. The listener calls `refuse` for each connection that exceeds the share of its address.
 */
export function createConnectionGuard(
  maxConnections: number,
  refuse: (socket: Socket) => void,
): (socket: Socket) => void {
  const shares = new FairShareLedger({ capacity: maxConnections });
  return (socket) => {
    const holder = getAddressHolderKey(socket.remoteAddress);
    if (shares.reserve(holder, 1) === undefined) socket.once("close", () => shares.release(holder, 1));
    else refuse(socket);
  };
}
