import { A2AError, estimateJsonSize, type Task } from "../protocol/index.ts";
import type { ByteAccount } from "./byte-ledger/byte-account.ts";
import { createJsonReply, type HttpReply } from "./http-exchange.ts";

/** Length of a response text in characters from which the server reserves bytes before it writes the text. */
const MIN_RESERVED_TEXT_LENGTH = 64 * 1024;

/**
 * Reserves the bytes of a complete response text until the client has taken it. Returns RESOURCE_EXHAUSTED if the
 * holder's share is used up. A text that is not ASCII counts the two bytes that V8 needs for each character.
 */
export function reserveResponseText(
  account: ByteAccount | undefined,
  text: string,
  byteLength: number,
): A2AError | undefined {
  const bytes = byteLength === text.length ? byteLength : Math.max(byteLength, 2 * text.length);
  try {
    account?.reserveResponseText(bytes);
    return undefined;
  } catch (error) {
    return A2AError.from(error);
  }
}

/**
 * Reserves the length of an encoded response, before other requests run. Throws RESOURCE_EXHAUSTED if the share is used
 * up. `sendReply` later replaces the length with the number of bytes.
 */
export function reserveEncodedResponse(account: ByteAccount | undefined, textLength: number): void {
  if (account && textLength >= MIN_RESERVED_TEXT_LENGTH) account.reserveResponseText(textLength);
}

/**
 * Reserves the size of the task in a response before the server encodes the response. Throws RESOURCE_EXHAUSTED if the
 * share is used up. Remembers the size of a large task for `assertRoomForKnownTask`.
 */
export function reserveTaskResponse(account: ByteAccount | undefined, task: Task): void {
  if (!account) return;
  const size = estimateJsonSize(task);
  if (size < MIN_RESERVED_TEXT_LENGTH) return;
  account.rememberTaskSize(task.id, size);
  account.reserveResponseText(size);
}

/** Creates the reply for a text that was refused after it had been encoded for its protocol binding. */
export function createRefusalReply({ message, retryAfter = 1 }: A2AError): HttpReply {
  const body = JSON.stringify({ error: { code: 429, status: "RESOURCE_EXHAUSTED", message } });
  return createJsonReply(429, body, { "retry-after": String(retryAfter) });
}
