import { countUtf8Bytes } from "../data-structures/index.ts";
import { A2AError, estimateJsonSize, type Task } from "../protocol/index.ts";
import type { ByteAccount } from "./byte-ledger/byte-ledger.ts";
import { createJsonReply, type HttpReply } from "./http-exchange.ts";

/** Length of a response text in characters from which the server reserves bytes before it writes the text. */
const MIN_RESERVED_TEXT_LENGTH = 64 * 1024;

/** A complete response text, which is usually one piece. */
export interface ResponseText {
  readonly pieces: readonly string[];
  /** Number of UTF-16 code units. */
  readonly length: number;
}

export function toResponseText(body: string | readonly string[]): ResponseText {
  if (typeof body === "string") return { pieces: [body], length: body.length };
  return { pieces: body, length: body.reduce((sum, piece) => sum + piece.length, 0) };
}

/**
 * Reserves the bytes of a complete response text until the client has taken it. Returns the number of bytes, or
 * RESOURCE_EXHAUSTED if the holder's share is used up. A piece that is not ASCII counts the two bytes that V8 needs
 * for each character.
 */
export function measureAndReserveResponseText(
  account: ByteAccount | undefined,
  { pieces }: ResponseText,
): number | A2AError {
  let byteLength = 0;
  let heldBytes = 0;
  for (const piece of pieces) {
    const pieceBytes = countUtf8Bytes(piece);
    byteLength += pieceBytes;
    heldBytes += pieceBytes === piece.length ? pieceBytes : Math.max(pieceBytes, 2 * piece.length);
  }
  try {
    account?.reserveResponseText(heldBytes);
    return byteLength;
  } catch (error) {
    return A2AError.from(error);
  }
}

/**
 * Reserves the length of an encoded response, before other requests run. Throws RESOURCE_EXHAUSTED if the share is used
 * up. `sendReply` later replaces the length with the number of bytes. Returns true if `sendReply` can then refuse the
 * response, so that the reply needs `createRefusal`.
 */
export function reserveEncodedResponse(
  account: ByteAccount | undefined,
  body: string | readonly string[],
): boolean {
  const { length } = toResponseText(body);
  if (!account || length < MIN_RESERVED_TEXT_LENGTH) return false;
  account.reserveResponseText(length);
  return true;
}

/**
 * Reserves the size of the task in a response before the server encodes the response. Throws RESOURCE_EXHAUSTED if the
 * share is used up. Remembers the size of a large task for `assertRoomForKnownTask`. Returns the size of the task in
 * characters, or `undefined` if the server does not count the bytes.
 */
export function reserveTaskResponse(account: ByteAccount | undefined, task: Task): number | undefined {
  if (!account) return undefined;
  const size = estimateJsonSize(task);
  if (size < MIN_RESERVED_TEXT_LENGTH) return size;
  account.rememberTaskSize(task.id, size);
  account.reserveResponseText(size);
  return size;
}

/** Creates the reply for a text that was refused after it had been encoded, unless its reply has `createRefusal`. */
export function createRefusalReply({
  message,
  retryAfter = 1,
}: A2AError): HttpReply & { readonly body: string } {
  const body = JSON.stringify({ error: { code: 429, status: "RESOURCE_EXHAUSTED", message } });
  return { ...createJsonReply(429, body, { "retry-after": String(retryAfter) }), body };
}
