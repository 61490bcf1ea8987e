import { once } from "node:events";
import type { Writable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";

/** The client closed its connection. */
export class ClientGoneError extends Error {
  override readonly name: string = "ClientGoneError";
  /** Time in milliseconds for which the client had read no bytes, although bytes were waiting. */
  readonly stalledMs: number;

  constructor(stalledMs = 0) {
    super("The client closed its connection.");
    this.stalledMs = stalledMs;
  }
}

/** Interval between two pieces of a slow response, in milliseconds. */
const SLOW_PIECE_MS = 50;

/**
 * Writes bytes, and waits until the client accepts more bytes. With a finite speed, writes a small piece every 50 ms.
 * Rejects with `ClientGoneError` if the client closes its connection.
 */
export async function writeResponseBytes(
  response: Writable,
  bytes: Buffer,
  bytesPerSecond: number,
): Promise<void> {
  if (bytesPerSecond === Infinity) return await writeAndDrain(response, bytes);
  const pieceLength = Math.max(1, Math.round((bytesPerSecond * SLOW_PIECE_MS) / 1_000));
  for (let at = 0; at < bytes.length; at += pieceLength) {
    const piece = bytes.subarray(at, at + pieceLength);
    await delay((piece.length / bytesPerSecond) * 1_000);
    await writeAndDrain(response, piece);
  }
}

/** Writes bytes, and waits until the writable accepts more bytes. Rejects if the writable closes. */
export async function writeAndDrain(response: Writable, bytes: Buffer): Promise<void> {
  if (response.destroyed) throw new ClientGoneError();
  if (bytes.length === 0 || response.write(bytes)) return;
  const since = performance.now();
  const controller = new AbortController();
  const { signal } = controller;
  try {
    await Promise.race([once(response, "drain", { signal }), once(response, "close", { signal })]);
  } finally {
    controller.abort();
  }
  if (response.destroyed) throw new ClientGoneError(performance.now() - since);
}
