import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** Responses that wait for the earlier responses of their connection. */
const waitingResponses = new WeakMap<Socket, Set<ServerResponse>>();

/**
 * Makes sure that the response to a pipelined request emits `close` when its connection closes. Node.js 22 emits the
 * event only for the response that is being sent, and the waiting responses would keep their shares forever. Call the
 * function before any other event of the connection.
 */
export function closePipelinedResponseWithConnection(
  { socket }: IncomingMessage,
  outgoing: ServerResponse,
): void {
  if (outgoing.socket) return;
  const waiting = waitingResponses.get(socket) ?? createWaitingResponses(socket);
  waiting.add(outgoing);
  outgoing.once("close", () => waiting.delete(outgoing));
}

function createWaitingResponses(socket: Socket): Set<ServerResponse> {
  const waiting = new Set<ServerResponse>();
  waitingResponses.set(socket, waiting);
  socket.once("close", () => {
    for (const response of waiting) {
      if (response.destroyed) continue;
      // Node.js 24 also emits `close` in the method `destroy`.
      response.destroyed = true;
      response.emit("close");
    }
  });
  return waiting;
}
