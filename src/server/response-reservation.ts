import { A2AError, estimateJsonSize, type OperationName } from "../protocol/index.ts";
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
 * Reserves the estimated size of a response, so that a response that exceeds the holder's share is refused before the
 * server builds it. Throws RESOURCE_EXHAUSTED if the share is used up.
 */
export function reserveEstimatedResponse(account: ByteAccount | undefined, estimatedSize: number): void {
  if (account && estimatedSize >= MIN_RESERVED_TEXT_LENGTH) account.reserveResponseText(estimatedSize);
}

/** Operations whose result is one task or message, which is cheap to measure and can be large. */
const MEASURED_OPERATIONS: ReadonlySet<OperationName> = new Set(["SendMessage", "GetTask", "CancelTask"]);

/** Estimates the size of a result in characters. Returns 0 for results whose size other limits bound. */
export function estimateResponseSize(operation: OperationName, result: unknown): number {
  return MEASURED_OPERATIONS.has(operation) ? estimateJsonSize(result) : 0;
}

/** Creates the reply for a text that was refused after it had been encoded for its protocol binding. */
export function createRefusalReply({ message, retryAfter = 1 }: A2AError): HttpReply {
  const body = JSON.stringify({ error: { code: 429, status: "RESOURCE_EXHAUSTED", message } });
  return createJsonReply(429, body, { "retry-after": String(retryAfter) });
}
