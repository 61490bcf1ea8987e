import { utf8Codec } from "../data-structures/index.ts";
import { systemClock } from "../engine/index.ts";
import { A2AError, estimateJsonSize, type Task } from "../protocol/index.ts";
import type { ByteAccount } from "./byte-ledger/byte-ledger.ts";

/** Length of a response text in characters from which the server reserves bytes before it writes the text. */
const MIN_RESERVED_TEXT_LENGTH = 64 * 1024;

/** Returns the number of bytes of a response text, which usually is one piece. */
export function countResponseBytes(pieces: readonly string[]): number {
  return pieces.reduce((sum, piece) => sum + utf8Codec.countBytes(piece), 0);
}

/**
 * Reserves the bytes of an encoded response until the client has taken it. Throws RESOURCE_EXHAUSTED if the share is used
 * up, so that the binding replies with its own error. A piece that is not ASCII counts the two bytes that V8 needs for
 * each character. The bytes of a long text are counted in the next turn of the event loop, because the text has just been
 * serialized.
 */
export function reserveEncodedResponse(
  account: ByteAccount | undefined,
  body: string | readonly string[],
): Promise<void> | undefined {
  const pieces = typeof body === "string" ? [body] : body;
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  if (!account || length < MIN_RESERVED_TEXT_LENGTH) return undefined;
  account.reserveResponseText(length);
  return new Promise((resolve, reject) => {
    systemClock.scheduleTurn(() => {
      const heldBytes = pieces.reduce((sum, piece) => {
        const bytes = utf8Codec.countBytes(piece);
        return sum + (bytes === piece.length ? bytes : Math.max(bytes, 2 * piece.length));
      }, 0);
      try {
        account.reserveResponseText(heldBytes);
        resolve();
      } catch (error) {
        reject(A2AError.from(error));
      }
    });
  });
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
