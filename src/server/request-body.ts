import { A2AError } from "../protocol/index.ts";
import { parseBoundedJson } from "../wire/index.ts";
import type { HttpRequest } from "./http-exchange.ts";
import type { ByteAccount } from "./byte-ledger/byte-ledger.ts";

const UTF8_DECODER = /* @__PURE__ */ new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const JSON_MEDIA_TYPES = new Set(["application/json", "application/a2a+json"]);

/** Decodes a complete request body, and returns an error if the body is not UTF-8. */
export function decodeBodyText(bytes: Uint8Array): string | A2AError {
  try {
    return UTF8_DECODER.decode(bytes);
  } catch (cause) {
    const text = "The request body is not UTF-8; send JSON encoded as UTF-8.";
    return new A2AError("PARSE_ERROR", text, { cause });
  }
}

export function createPayloadTooLargeError(maxBytes: number): A2AError {
  const limit = `${maxBytes.toLocaleString("en")} bytes`;
  return new A2AError("PAYLOAD_TOO_LARGE", `The request body exceeds ${limit}; send large files by URL.`);
}

/**
 * Throws CONTENT_TYPE_NOT_SUPPORTED if the headers of a request do not declare an uncompressed JSON body. The
 * required content type also prevents cross-site requests with a body, because browsers send JSON to another site
 * only after a CORS preflight. `CrossOriginGuard` also refuses those without a body.
 */
export function assertJsonContentType(request: HttpRequest): void {
  const encoding = request.header("content-encoding");
  if (encoding !== undefined && encoding !== "identity") {
    const text = `The request body has the content encoding ${encoding}; send it uncompressed.`;
    throw new A2AError("CONTENT_TYPE_NOT_SUPPORTED", text);
  }
  const contentType = request.header("content-type");
  if (contentType === "application/json") return;
  const mediaType = contentType?.split(";", 1)[0]?.trim().toLowerCase();
  if (mediaType !== undefined && JSON_MEDIA_TYPES.has(mediaType)) return;
  const problem = contentType ? `is ${JSON.stringify(contentType.slice(0, 80))}` : "has no Content-Type";
  const text = `The request body ${problem}; send "Content-Type: application/json".`;
  throw new A2AError("CONTENT_TYPE_NOT_SUPPORTED", text);
}

/**
 * Reads and parses a JSON request body of at most `maxJsonValues` values. Returns the length of the body in characters,
 * too. The JSON is `undefined` if the body is empty. For example, a CancelTask request can have an empty body.
 */
export async function readJsonBody(
  request: HttpRequest,
  { maxBodyBytes, maxJsonValues }: { readonly maxBodyBytes: number; readonly maxJsonValues: number },
): Promise<{ readonly json: unknown; readonly length: number }> {
  const text = await request.text(maxBodyBytes);
  const { length } = text;
  if (length === 0) return { json: undefined, length };
  assertJsonContentType(request);
  try {
    return { json: parseBoundedJson(text, maxJsonValues), length };
  } catch (cause) {
    if (cause instanceof A2AError) throw cause;
    const why = cause instanceof Error ? cause.message : "unknown";
    const message = `The request body is not JSON (${why}); send one JSON object as UTF-8.`;
    throw new A2AError("PARSE_ERROR", message, { cause });
  }
}

const BLOCK_BYTES = 64 * 1024;
/** Size of the chunks that the buffer keeps. Copying them would double the garbage of a large body. */
const MIN_KEPT_CHUNK_BYTES = BLOCK_BYTES / 2;

/**
 * Collects the chunks of a request body. The buffer copies small chunks into blocks, because each chunk of a client that
 * sends single bytes would otherwise need a separate object.
 */
export class RequestBodyBuffer {
  readonly #maxBytes: number;
  readonly #account: ByteAccount | undefined;
  #firstChunk: Uint8Array | undefined;
  readonly #finishedParts: Uint8Array[] = [];
  #block: Uint8Array | undefined;
  #blockLength = 0;
  #size = 0;

  /** The buffer reserves the bytes that it contains in `account`. */
  constructor(maxBytes: number, account: ByteAccount | undefined) {
    this.#maxBytes = maxBytes;
    this.#account = account;
  }

  /**
   * Adds a chunk. Throws PAYLOAD_TOO_LARGE, or RESOURCE_EXHAUSTED if the holder's share is used up. A chunk that is the
   * whole body is not counted, because it does not wait for further chunks.
   */
  add(chunk: Uint8Array, isWholeBody = false): void {
    this.#size += chunk.length;
    if (this.#size > this.#maxBytes) throw createPayloadTooLargeError(this.#maxBytes);
    if (!isWholeBody) this.#account?.reserveBodyBytes(chunk.length);
    if (this.#size === chunk.length) {
      this.#firstChunk = chunk;
      return;
    }
    if (this.#firstChunk) {
      const first = this.#firstChunk;
      this.#firstChunk = undefined;
      this.#append(first);
    }
    this.#append(chunk);
  }

  toBytes(): Uint8Array {
    if (this.#firstChunk) return this.#firstChunk;
    const block = this.#block?.subarray(0, this.#blockLength);
    const parts = block ? [...this.#finishedParts, block] : this.#finishedParts;
    const bytes = new Uint8Array(this.#size);
    let at = 0;
    for (const part of parts) {
      bytes.set(part, at);
      at += part.length;
    }
    return bytes;
  }

  /** Drops the body, and returns its bytes to the account. */
  release(): void {
    this.#firstChunk = this.#block = undefined;
    this.#finishedParts.length = 0;
    this.#account?.releaseBodyBytes();
  }

  #append(chunk: Uint8Array): void {
    if (chunk.length < MIN_KEPT_CHUNK_BYTES) return this.#copy(chunk);
    // A copy frees the unused rest of the block.
    if (this.#block) this.#finishedParts.push(this.#block.slice(0, this.#blockLength));
    this.#block = undefined;
    this.#blockLength = 0;
    this.#finishedParts.push(chunk);
  }

  #copy(chunk: Uint8Array): void {
    let rest = chunk;
    while (rest.length > 0) {
      this.#block ??= new Uint8Array(BLOCK_BYTES);
      const part = rest.subarray(0, BLOCK_BYTES - this.#blockLength);
      this.#block.set(part, this.#blockLength);
      this.#blockLength += part.length;
      rest = rest.subarray(part.length);
      if (this.#blockLength < BLOCK_BYTES) continue;
      this.#finishedParts.push(this.#block);
      this.#block = undefined;
      this.#blockLength = 0;
    }
  }
}
