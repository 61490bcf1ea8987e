import { countUtf8Bytes } from "../base/data-structures/index.ts";
import { systemClock } from "../engine/index.ts";
import { A2AError, estimateJsonSize, type Task } from "../protocol/index.ts";
import type { ByteAccount } from "./byte-ledger/byte-ledger.ts";
import { iterateSlices } from "./write-text-in-slices.ts";

/** Length of a response text in characters from which the server reserves bytes before it writes the text. */
const MIN_RESERVED_TEXT_LENGTH = 64 * 1024;

/** Returns the number of bytes of a response text, which usually is one piece. */
export function countResponseBytes(pieces: readonly string[]): number {
  return pieces.reduce((sum, piece) => sum + countUtf8Bytes(piece), 0);
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
        const bytes = countUtf8Bytes(piece);
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

/** Length of the strings, in characters, from which a result is serialized in steps. Serializing takes about 5 ms. */
const MAX_STEP_LENGTH = 1024 * 1024;
const MIN_PIECE_LENGTH = 64 * 1024;

/**
 * Serializes the JSON of a result, like `JSON.stringify`. A large result is serialized in steps of about 5 ms, so that
 * other requests run in between, and returned in pieces, because a joined text would need a second copy. A small result
 * is serialized at once, because almost all results are small. `knownSize` is the approximate size of the result in
 * characters, if the caller knows it.
 */
export function stringifyResult(result: unknown, knownSize?: number): string | Promise<readonly string[]> {
  const isSmall = knownSize !== undefined && knownSize < MIN_PIECE_LENGTH;
  return isSmall || !hasLongText(result) ? JSON.stringify(result) : stringifyInSteps(result);
}

async function stringifyInSteps(result: unknown): Promise<readonly string[]> {
  const pieces: string[] = [];
  let piece = "";
  let stepLength = 0;
  for (const next of iterateJsonPieces(result)) {
    piece += next;
    stepLength += next.length;
    // Only short pieces are joined, because joining a long piece would copy it.
    if (piece.length >= MIN_PIECE_LENGTH) {
      pieces.push(piece);
      piece = "";
    }
    if (stepLength < MAX_STEP_LENGTH) continue;
    stepLength = 0;
    await new Promise<void>((resolve) => systemClock.scheduleTurn(resolve));
  }
  pieces.push(piece);
  return pieces;
}

/** Yields the JSON text of a value in pieces of limited length. */
function* iterateJsonPieces(value: unknown): Generator<string> {
  if (typeof value === "string") yield* iterateStringPieces(value);
  else if (typeof value !== "object" || value === null || !hasLongText(value))
    yield JSON.stringify(value) ?? "null";
  else if (Array.isArray(value)) {
    for (const [at, item] of value.entries()) {
      yield at === 0 ? "[" : ",";
      yield* iterateJsonPieces(item);
    }
    yield "]";
  } else {
    let before = "{";
    for (const [key, member] of Object.entries(value)) {
      if (member === undefined) continue;
      yield `${before}${JSON.stringify(key)}:`;
      yield* iterateJsonPieces(member);
      before = ",";
    }
    yield "}";
  }
}

function* iterateStringPieces(text: string): Generator<string> {
  yield '"';
  for (const slice of iterateSlices(text)) yield JSON.stringify(slice).slice(1, -1);
  yield '"';
}

/** Returns true if the strings of a JSON value are longer than one step in total. Stops counting at this length. */
function hasLongText(value: unknown): boolean {
  return countCharacters(value, 0) > MAX_STEP_LENGTH;
}

/** Adds the lengths of all strings, keys, and members of a JSON value to `counted`, at least up to the limit. */
function countCharacters(value: unknown, counted: number): number {
  if (typeof value === "string") return counted + value.length;
  if (typeof value !== "object" || value === null) return counted + 1;
  let length = counted + 2;
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length && length <= MAX_STEP_LENGTH; at++)
      length = countCharacters(value[at], length);
    return length;
  }
  // Each result is counted. `for in` does not create a list of the members.
  for (const key in value) {
    if (length > MAX_STEP_LENGTH) break;
    length = countCharacters((value as Record<string, unknown>)[key], length + key.length);
  }
  return length;
}
