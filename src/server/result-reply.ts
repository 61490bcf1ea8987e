import { countUtf8Bytes } from "../base/data-structures/index.ts";
import { systemClock } from "../engine/index.ts";
import { estimateJsonSize, type Task } from "../protocol/index.ts";
import type { ByteAccount } from "./byte-ledger/byte-ledger.ts";
import type { HttpReply, ResponseSink } from "./http-exchange.ts";

/** Length of a response text in characters from which the server reserves bytes before it writes the text. */
const MIN_RESERVED_TEXT_LENGTH = 64 * 1024;

/**
 * Creates the reply with the JSON of a result, between the two texts of an envelope. The bytes of a long reply are
 * reserved until the client has taken it. Throws RESOURCE_EXHAUSTED if the share is used up, so that the binding replies
 * with its own error.
 */
export function createResultReply(
  account: ByteAccount | undefined,
  headers: Record<string, string>,
  { result, size, envelope = ["", ""] }: EncodedResult,
): HttpReply | Promise<HttpReply> {
  const text = stringifyResult(result, size);
  const [head, tail] = envelope;
  if (typeof text !== "string")
    return text.then((pieces) => createLongReply(account, headers, [head, ...pieces, tail]));
  return account && text.length >= MIN_RESERVED_TEXT_LENGTH
    ? createLongReply(account, headers, [head, text, tail])
    : { status: 200, headers, body: `${head}${text}${tail}` };
}

async function createLongReply(
  account: ByteAccount | undefined,
  headers: Record<string, string>,
  pieces: readonly string[],
): Promise<HttpReply> {
  const bytes = await reserveText(account, pieces);
  return {
    status: 200,
    headers: { ...headers, "content-length": String(bytes) },
    body: (sink) => void writeTextInSlices(pieces, sink),
  };
}

interface EncodedResult {
  readonly result: unknown;
  /** Approximate size of the result in characters, if it is known. */
  readonly size?: number | undefined;
  readonly envelope?: readonly [head: string, tail: string];
}

/**
 * Reserves the bytes of a long text, and resolves with the number of bytes to send. A piece that is not ASCII counts the
 * two bytes that V8 needs for each character. The bytes are counted in the next turn of the event loop, because the text
 * has just been serialized.
 */
async function reserveText(account: ByteAccount | undefined, pieces: readonly string[]): Promise<number> {
  account?.reserveResponseText(pieces.reduce((sum, piece) => sum + piece.length, 0));
  await new Promise<void>((resolve) => systemClock.scheduleTurn(resolve));
  let bytes = 0;
  let heldBytes = 0;
  for (const piece of pieces) {
    const pieceBytes = countUtf8Bytes(piece);
    bytes += pieceBytes;
    heldBytes += pieceBytes === piece.length ? pieceBytes : Math.max(pieceBytes, 2 * piece.length);
  }
  account?.reserveResponseText(heldBytes);
  return bytes;
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

/** Returns true if a JSON value is longer than one step. Stops counting at this length. */
function hasLongText(value: unknown): boolean {
  return estimateJsonSize(value, MAX_STEP_LENGTH) > MAX_STEP_LENGTH;
}

/**
 * Number of characters that one write copies. Copying 10 MB at once would block the event loop for about 20 ms. A client
 * that takes one slice within `limits.writeStallMs` stays connected.
 */
export const MAX_WRITE_LENGTH: number = 256 * 1024;

/**
 * Writes the pieces of a long text in slices, so that other requests run in between. Waits for a slow reader after each
 * slice.
 */
export async function writeTextInSlices(
  pieces: readonly string[],
  sink: Pick<ResponseSink, "write" | "end" | "onClose">,
): Promise<void> {
  let isClosed = false;
  sink.onClose(() => {
    isClosed = true;
  });
  for (const text of pieces) {
    for (const slice of iterateSlices(text)) {
      if (isClosed) break;
      await sink.write(slice);
      // A socket can take several slices within one turn of the event loop.
      await new Promise(setImmediate);
    }
  }
  sink.end();
}

/** Yields a text in slices of at most `MAX_WRITE_LENGTH` characters. */
export function* iterateSlices(text: string): Generator<string> {
  for (let start = 0; start < text.length;) {
    const end = Math.min(start + MAX_WRITE_LENGTH, text.length);
    // A slice must not end between the two halves of a surrogate pair, which have no UTF-8 and which JSON escapes.
    const sliceEnd = end < text.length && isHighSurrogate(text.charCodeAt(end - 1)) ? end - 1 : end;
    yield text.slice(start, sliceEnd);
    start = sliceEnd;
  }
}

function isHighSurrogate(charCode: number): boolean {
  return charCode >= 0xd800 && charCode <= 0xdbff;
}
