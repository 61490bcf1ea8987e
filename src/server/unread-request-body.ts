import type { IncomingMessage, ServerResponse } from "node:http";
import { systemClock } from "../engine/index.ts";

/**
 * Limits of the bytes that the server still reads after a reply to an unfinished request. A connection that is closed
 * with unread bytes can lose the reply (RFC 9112 §9.6), so the server reads the rest for a while.
 */
const DISCARD_LIMITS = {
  bytes: 64 * 1024,
  /** Many clients read a reply only after they have sent the whole body, and this body may be slightly too large. */
  bytesOfTooLargeBody: 16 * 2 ** 20,
  ms: 2000,
};

/** Returns true if a part of the request body has not arrived. */
export function isBodyUnread(incoming: IncomingMessage): boolean {
  if (incoming.complete) return false;
  const { headers } = incoming;
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}

/**
 * Writes the text of a response whose request body has not arrived completely, discards a bounded rest of the body for a
 * bounded time, and closes the connection. The headers of the response must declare `content-length` and
 * `connection: close`.
 */
export function endResponseBeforeUnreadBody(
  outgoing: ServerResponse,
  text: string,
  encoding: "latin1" | "utf8",
): void {
  const incoming = outgoing.req;
  outgoing.on("error", () => outgoing.destroy());
  if (text === "") outgoing.flushHeaders();
  else outgoing.write(text, encoding);
  let remaining = outgoing.statusCode === 413 ? DISCARD_LIMITS.bytesOfTooLargeBody : DISCARD_LIMITS.bytes;
  // The client is still able to read the reply, while its unread bytes wait in the buffers of the network.
  const stopReading = (): void => void incoming.socket.pause();
  incoming.on("data", (chunk: Buffer) => {
    remaining -= chunk.length;
    if (remaining < 0) stopReading();
  });
  const end = (): void => {
    cancelTimeout();
    if (!outgoing.writableEnded) outgoing.end();
  };
  const cancelTimeout = systemClock.schedule(DISCARD_LIMITS.ms, () => {
    end();
    // A client that has not read its reply until now loses the connection.
    outgoing.destroy();
  });
  incoming.once("end", end).on("error", end);
  outgoing.once("close", cancelTimeout);
  // The end of a much longer body is out of reach, so reading a part of the body has no use.
  if (Number(incoming.headers["content-length"] ?? 0) > 2 * remaining) stopReading();
  else incoming.resume();
}
